// SPDX-License-Identifier: Apache-2.0
// The program waves gives the same bits however the grid is cut and wherever it runs, outlives a killed rank, and says
// what to change where something cannot be computed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "launched.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

constexpr const char* basin = R"([grid]
size = [800.0, 1100.0, 600.0]
h = 50.0
time = 0.35
layers = 16

[[layer]]
vp = 3000.0
vs = 1500.0
rho = 2200.0

[[layer]]
top = 225.0
vp = 5000.0
vs = 2800.0
rho = 2600.0

[[block]]
low = [300.0, 400.0, 0.0]
high = [500.0, 700.0, 150.0]
vp = 1500.0
vs = 800.0
rho = 1900.0

[[source]]
at = [310.0, 620.0, 280.0]
moment = [1e15, 0.0, -1e15, 5e14, 0.0, 2e14]
time = "gaussian"
start = 0.1
width = 0.02

[[receiver]]
name = "town"
at = [500.0, 600.0, 0.0]
)";

struct waves_program : testing::Test {
  void SetUp() override {
    std::filesystem::create_directories(folder);
    write(basin);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void write(const std::string& text) const { std::ofstream(input) << text; }

  /// The digest of a run that these words begin; empty when it fails.
  [[nodiscard]] std::string digest(std::vector<std::string> words, const std::vector<std::string>& options) const {
    words.insert(words.begin(), {"timeout", "-k", "5", "540"});
    words.insert(words.end(), {NACRE_BIN_DIR "/waves", input, "--quiet", "--json", folder + "/result.json"});
    words.insert(words.end(), options.begin(), options.end());
    const outcome got = launched(words).end();
    EXPECT_EQ(code_of(got), 0) << got.errors;
    std::ifstream file(folder + "/result.json");
    const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
    return json.is_object() ? json.value("digest", "") : "";
  }
  [[nodiscard]] std::string refusal(const std::vector<std::string>& options) const {
    std::vector<std::string> words{NACRE_BIN_DIR "/waves"};
    words.insert(words.end(), options.begin(), options.end());
    const outcome got = launched(words).end();
    EXPECT_EQ(code_of(got), 2) << got.output;
    return got.errors;
  }

  [[nodiscard]] static std::string text(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder = testing::TempDir() + "nacre_waves_mp." + std::to_string(::getpid());
  std::string input = folder + "/basin.toml";
};

TEST_F(waves_program, gives_the_same_bits_for_any_cut_balancer_instruction_set_and_transport) {
  const std::string alone = digest({}, {"--patches=1", "--nacre.workers=1"});
  ASSERT_FALSE(alone.empty());
  EXPECT_EQ(digest({}, {"--patches=6", "--nacre.workers=2", "--kernels=portable"}), alone);
  EXPECT_EQ(digest({}, {"--patches=12", "--nacre.ranks=3", "--nacre.balancer=rotate"}), alone);
  EXPECT_EQ(digest({}, {"--patches=6", "--nacre.transport=sim", "--nacre.ranks=8"}), alone);
  for (const char* transport : {"shm", "tcp"}) {
    const bench::launcher start = start_of(transport, 2);
    if (start.missing.empty()) {
      EXPECT_EQ(digest(start.words, {"--patches=6"}), alone) << transport;
    }
  }
}

TEST_F(waves_program, outlives_a_killed_rank) {
  const std::string alone = digest({}, {"--patches=4", "--time=3", "--seismograms=" + folder + "/whole"});
  // Kills the last rank of the job as soon as there is an image.
  const std::string script =
      R"("$1" run -n 2 --survive restart "$2" "$3" --quiet --patches=4 --time=3 --json "$4/result.json" \
    --seismograms="$4/killed" --nacre.checkpoint.folder="$4/images" --nacre.checkpoint.every=1ns & job=$!
    until ls "$4"/images/*/*/manifest.json >"$4/list" 2>&1; do sleep 0.05; done
    kill -9 $(ps -o pid= --ppid $job | tail -1); wait $job)";
  const outcome got = launched({"timeout", "-k", "5", "300", "sh", "-c", script, "sh", NACRE_BIN_DIR "/nacre",
                                NACRE_BIN_DIR "/waves", input, folder})
                          .end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_NE(got.errors.find("was killed by signal 9"), std::string::npos) << got.errors;
  EXPECT_FALSE(text(folder + "/whole.town.txt").empty());
  EXPECT_EQ(text(folder + "/whole.town.txt"), text(folder + "/killed.town.txt"));
}

TEST_F(waves_program, goes_on_from_an_image_of_the_same_problem_only) {
  const std::string images = folder + "/images";
  const std::string alone =
      digest({}, {"--patches=4", "--nacre.checkpoint.folder=" + images, "--nacre.checkpoint.every=1ns"});
  EXPECT_EQ(digest({}, {"--chunk=7", "--nacre.restore=" + images}), alone);
  EXPECT_EQ(digest({}, {"--time=0.5", "--nacre.restore=" + images}), digest({}, {"--time=0.5", "--patches=4"}))
      << "more steps of the same length";
  const std::vector<std::pair<std::string, std::string>> faults{
      {"--h=40", "points along x is 49, and in this job the number of points along x is 53"},
      {"--h=100", "points along x is 49, and in this job the number of points along x is 41"},
      {"--time=0.403", "and in this job the step in time is "},
      {"--interface=harmonic", "interface is thin_layer, and in this job interface is harmonic"}};
  for (const auto& [option, words] : faults) {
    const outcome got = launched({"timeout", "-k", "5", "60", NACRE_BIN_DIR "/waves", input, "--quiet", "--patches=4",
                                  option, "--nacre.restore=" + images})
                            .end();
    EXPECT_EQ(code_of(got), 1) << got.errors;
    EXPECT_NE(got.errors.find(words), std::string::npos) << words << ": " << got.errors;
  }
}

TEST_F(waves_program, has_a_rival_that_computes_the_same_and_refuses_outputs_that_it_does_not_write) {
  if (!std::filesystem::exists(NACRE_BIN_DIR "/waves_mpi_openmpi")) GTEST_SKIP();
  const std::string alone = digest({}, {"--patches=4"});
  const auto rival = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"timeout", "-k", "5", "120", NACRE_BIN_DIR "/waves_mpi_openmpi", input});
    return launched(std::move(options)).end();
  };
  const outcome same = rival({"--patches=4"});
  if (same.output.empty()) GTEST_SKIP() << same.errors;  // Open MPI does not start here
  EXPECT_NE(same.output.find("digest " + alone), std::string::npos) << same.output;
  for (const std::string option :
       {"--seismograms=out", "--snapshots=a.vti", "--reference=a.txt", "--every=0.1", "--plane=y=0"}) {
    const outcome got = rival({option});
    EXPECT_EQ(code_of(got), 2) << option;
    EXPECT_NE(got.errors.find(option.substr(0, option.find('=')) + " is an option of waves alone"), std::string::npos)
        << got.errors;
  }
}

/// The numbers of the last line of a seismogram.
std::vector<double> last_motion(const std::string& file) {
  const std::size_t end = file.find_last_of("0123456789"), begin = file.find_last_of('\n', end);
  std::istringstream words(file.substr(begin + 1, end - begin));
  return {std::istream_iterator<double>(words), {}};
}

TEST_F(waves_program, writes_planes_in_which_a_receiver_moves_as_in_its_seismogram) {
  const std::vector<std::string> asked{"--patches=6", "--seismograms=" + folder + "/out",
                                       "--snapshots=" + folder + "/plane.vti"};
  for (const auto& [plane, extent] :
       std::vector<std::pair<std::string, std::string>>{{"z=0", "0 48 0 54 0 0"}, {"y=600", "0 48 0 0 0 28"}}) {
    std::vector<std::string> options = asked;
    options.push_back("--plane=" + plane);
    ASSERT_FALSE(digest({}, options).empty());
    const std::string file = text(folder + "/plane.vti"), motion = text(folder + "/out.town.txt");
    EXPECT_NE(file.find("WholeExtent=\"" + extent + "\""), std::string::npos) << file.substr(0, 500);
    EXPECT_NE(file.find("Spacing=\"50 50 50\""), std::string::npos);
    const std::size_t data = file.find("encoding=\"raw\">_") + 16 + sizeof(std::uint64_t);
    const std::size_t column = (500 + 800) / 50, row = plane == "z=0" ? (600 + 800) / 50 : 0;
    std::array<float, 3> values{};
    ASSERT_GT(file.size(), data + sizeof(float) * 3 * 49 * 29);
    std::memcpy(values.data(), file.data() + data + sizeof(float) * 3 * (49 * row + column), sizeof(values));
    const std::vector<double> last = last_motion(motion);
    ASSERT_EQ(last.size(), 4u);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_FLOAT_EQ(values[k], static_cast<float>(last[k + 1])) << plane;
    EXPECT_NE(values[0], 0.0f);
  }
}

TEST_F(waves_program, writes_the_displacement_that_a_random_state_has_at_first) {
  write("[random]\nstate = true\n" + std::string(basin));
  ASSERT_FALSE(digest({}, {"--patches=4", "--time=0.02", "--seismograms=" + folder + "/out"}).empty());
  std::istringstream lines(text(folder + "/out.town.txt"));
  std::string names;
  double time = -1, x = 0;
  std::getline(lines, names);
  lines >> time >> x;
  EXPECT_EQ(time, 0);
  EXPECT_NE(x, 0);
}

TEST_F(waves_program, writes_snapshots_at_the_times_that_were_asked_for) {
  // A step is 0.01 s: 0.027 s are no whole number of steps, and 13 times 0.027 s are next to the last one.
  ASSERT_FALSE(digest({}, {"--patches=2", "--snapshots=" + folder + "/wave.vti", "--every=0.027"}).empty());
  for (int number = 1; number <= 13; ++number) {
    const std::string name = "/wave-00" + std::string(number < 10 ? "0" : "") + std::to_string(number) + ".vti";
    const std::string file = text(folder + name), mark = "Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">";
    const std::size_t place = file.find(mark);
    ASSERT_NE(place, std::string::npos) << name;
    EXPECT_NEAR(std::stod(file.substr(place + mark.size(), 25)), 0.027 * number, 0.00501) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/wave-0014.vti"));
}

TEST_F(waves_program, writes_all_seismograms_but_those_that_cannot_be_written) {
  write(std::string(basin) + "[[receiver]]\nname = \"hill\"\nat = [600.0, 600.0, 0.0]\n");
  std::filesystem::create_directories(folder + "/out.town.txt");
  const outcome got = launched({"timeout", "-k", "5", "60", NACRE_BIN_DIR "/waves", input, "--quiet", "--time=0.05",
                                "--seismograms=" + folder + "/out"})
                          .end();
  EXPECT_EQ(code_of(got), 1);
  EXPECT_NE(got.errors.find("out.town.txt could not be written"), std::string::npos) << got.errors;
  for (const char* name : {"/out.town.svg", "/out.town.z.sac", "/out.hill.txt", "/out.hill.x.sac"}) {
    EXPECT_FALSE(text(folder + name).empty()) << name;
  }
}

TEST_F(waves_program, goes_on_without_a_snapshot_that_cannot_be_written) {
  std::filesystem::create_directories(folder + "/wave-0002.vti");
  const outcome got = launched({"timeout", "-k", "5", "60", NACRE_BIN_DIR "/waves", input, "--quiet", "--time=0.2",
                                "--snapshots=" + folder + "/wave.vti", "--every=0.05",
                                "--seismograms=" + folder + "/out", "--json=" + folder + "/result.json"})
                          .end();
  EXPECT_EQ(code_of(got), 1) << got.output;
  EXPECT_NE(got.errors.find("wave-0002.vti could not be written"), std::string::npos) << got.errors;
  for (const char* name : {"/wave-0003.vti", "/wave-0004.vti", "/out.town.txt", "/result.json"}) {
    EXPECT_FALSE(text(folder + name).empty()) << name;
  }
}

TEST_F(waves_program, needs_its_input_and_its_reference_no_more_once_it_computes) {
  std::ofstream(folder + "/known.txt") << "0 1 2 3\n0.1 2 3 4\n0.2 1 2 3\n0.3 1 1 1\n";
  // Snapshots are pipes. The second one is opened when the files have gone, and the program waits for that.
  const std::string script =
      R"(cd "$2"; mkfifo wave-0001.vti wave-0002.vti
    timeout -k 5 300 "$1" basin.toml --quiet --patches=4 --snapshots=wave.vti --every=0.15 --reference=known.txt \
      --seismograms=out --json=result.json & job=$!
    exec 3<wave-0001.vti; rm basin.toml known.txt; exec 4<wave-0002.vti; cat <&3 >first & cat <&4 >second & wait $job)";
  const outcome got =
      launched({"timeout", "-k", "5", "320", "bash", "-c", script, "bash", NACRE_BIN_DIR "/waves", folder}).end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_NE(got.output.find("basin: "), std::string::npos) << got.output;
  EXPECT_NE(got.output.find("misfit: radial "), std::string::npos) << got.output;
  EXPECT_NE(text(folder + "/result.json").find("digest"), std::string::npos);
  for (const char* name : {"/out.town.svg", "/out.town.z.sac"}) EXPECT_FALSE(text(folder + name).empty()) << name;
}

TEST_F(waves_program, makes_an_animation_of_a_series_of_pictures) {
  if (refusal({input, "--snapshots=" + folder + "/none.png", "--plane=x"}).find("libpng") != std::string::npos)
    GTEST_SKIP();
  ASSERT_FALSE(digest({}, {"--patches=2", "--snapshots=" + folder + "/wave.png", "--every=0.1"}).empty());
  const std::string animation = text(folder + "/wave.png"), first = text(folder + "/wave-0001.png");
  EXPECT_FALSE(text(folder + "/wave-0003.png").empty());
  EXPECT_TRUE(text(folder + "/wave-0004.png").empty());
  const std::size_t control = animation.find("acTL");
  ASSERT_NE(control, std::string::npos);
  EXPECT_EQ(animation.substr(control + 4, 4), std::string("\0\0\0\3", 4));
  const std::size_t pixels = first.find("IDAT");
  ASSERT_NE(pixels, std::string::npos);
  EXPECT_NE(animation.find(first.substr(pixels, 100)), std::string::npos) << "the first picture is another one";
}

TEST_F(waves_program, animates_the_pictures_that_are_there) {
  if (refusal({input, "--snapshots=" + folder + "/none.png", "--plane=x"}).find("libpng") != std::string::npos)
    GTEST_SKIP();
  const std::string images = folder + "/images", pictures = "--snapshots=" + folder + "/late.png";
  const std::string alone =
      digest({}, {"--patches=2", "--time=0.2", "--nacre.checkpoint.folder=" + images, "--nacre.checkpoint.every=1ns"});
  EXPECT_FALSE(alone.empty());
  ASSERT_FALSE(digest({}, {"--time=0.4", pictures, "--every=0.1", "--nacre.restore=" + images}).empty());
  EXPECT_TRUE(text(folder + "/late-0001.png").empty());
  const std::string animation = text(folder + "/late.png");
  const std::size_t control = animation.find("acTL");
  ASSERT_NE(control, std::string::npos);
  EXPECT_EQ(animation.substr(control + 4, 4), std::string("\0\0\0\2", 4));
}

/// A box in which 1.5 h / sqrt(vp^2 + 2 vs^2) is too long a step.
constexpr const char* slow_shear = R"([grid]
size = [800.0, 800.0, 800.0]
h = 50.0
time = 20.0
layers = 0

[[layer]]
vp = 6000.0
vs = 1000.0
rho = 2700.0

[[source]]
at = [410.0, 420.0, 330.0]
force = [0.0, 1e12, 0.0]
time = "gaussian"
start = 0.2
width = 0.05

[[receiver]]
name = "a"
at = [600.0, 420.0, 350.0]
)";

TEST_F(waves_program, ends_with_an_error_and_without_files_where_the_step_is_too_long) {
  write(slow_shear);
  EXPECT_FALSE(digest({}, {"--time=5"}).empty());
  std::filesystem::remove(folder + "/result.json");
  const outcome got =
      launched({"timeout", "-k", "5", "300", NACRE_BIN_DIR "/waves", input, "--quiet", "--nacre.ranks=2", "--step=1.5",
                "--unsafe-step", "--json=" + folder + "/result.json", "--seismograms=" + folder + "/out"})
          .end();
  EXPECT_EQ(code_of(got), 1) << got.output;
  EXPECT_NE(got.errors.find("take a smaller --step"), std::string::npos) << got.errors;
  EXPECT_FALSE(std::filesystem::exists(folder + "/result.json"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/out.a.txt"));
}

TEST_F(waves_program, refuses_what_cannot_be_computed_and_says_what_to_change) {
  const auto changed = [&](const std::string& source, const std::string& target) {
    std::string text = basin;
    text.replace(text.find(source), source.size(), target);
    write(text);
    return refusal({input});
  };
  const std::vector<std::pair<std::string, std::string>> faults{
      {changed("rho = 2200.0", "rho = -2200.0"), "layer 1: rho is -2200"},
      {changed("vp = 3000.0", "vp = nan"), "layer 1: lambda or mu, from vp and vs is nan"},
      {changed("vs = 1500.0", "vs = 2900.0"), "take vs > 0 and vp > 1.16 vs"},
      {changed("at = [500.0, 600.0, 0.0]", "at = [500.0, 1600.0, 0.0]"), "receiver town is at (500, 1600, 0)"},
      {changed("width = 0.02", "width = 0.0"), "source 1: width is 0"},
      {changed("[[source]]", "[[sauce]]"), "sauce is unknown"},
      {changed("layers = 16", "layers = 8"), "layers is 8"},
      {changed("layers = 16", "layers = [16"), "line"},
      {refusal({folder + "/none.toml"}), "none.toml"},
      {refusal({"--case=lamb", "--step=1.4"}), "add --unsafe-step"},
      {refusal({"--case=lamb", "--step=1.6", "--unsafe-step"}), "above 1.5 no material is stable"},
      {refusal({"--case=lamb", "--time=0"}), "time is 0"},
      {refusal({"--case=lamb", "--time=1e300"}), "at most 1e9 are computed"},
      {refusal({"--case=lamb", "--snapshots=" + folder + "/a.vti", "--plane=z=1e9"}), "name a plane of the grid"},
      {refusal({"--case=lamb", "--snapshots=" + folder + "/a.vti", "--every=1000"}), "before the first snapshot"},
      {refusal({"--case=lamb", "--snapshots=" + folder + "/none/a.vti"}), "none/a.vti"},
      {refusal({"--case=lamb", "--seismograms=" + folder + "/none/a"}), "none/a"},
      {refusal({"--case=lamb", "--reference=" NACRE_SOURCE_DIR "/apps/waves/references/loh1.txt"}),
       "lamb is compared with its exact solution"},
      {refusal({"--case=plane-wave", "--reference=" NACRE_SOURCE_DIR "/apps/waves/references/loh1.txt"}),
       "one of them is missing"},
      {refusal({"--case=lamb", "--sigma=0.1"}), "--sigma and --near are those of --case loh1"},
      {refusal({input, "--near"}), "--sigma and --near are those of --case loh1"},
      {refusal({"--case=lamb", "--every=0.5"}), "without --snapshots"},
      {refusal({"--case=lamb", "--plane=y=0"}), "without --snapshots"},
      {refusal({"--case=plane-wave", "--seismograms=" + folder + "/a"}), "the problem has no receiver"},
  };
  write(basin);
  const std::string wider = refusal({input, "--reference=" NACRE_SOURCE_DIR "/apps/waves/references/loh1.txt"});
  EXPECT_NE(wider.find("take --sigma 0.06 or more"), std::string::npos) << wider;
  for (const auto& [message, part] : faults)
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
}

}  // namespace
}  // namespace nacre::tests
