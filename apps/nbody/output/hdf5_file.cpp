// SPDX-License-Identifier: Apache-2.0
// GADGET's HDF5 files: the group Header with its attributes, and the bodies in PartType1 (all types are read).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nacre/nacre.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "output/snapshot.hpp"

#ifdef NBODY_HAS_HDF5
#include <hdf5.h>
#endif

namespace nbody {

#ifdef NBODY_HAS_HDF5

namespace {

constexpr std::size_t type_count = 6;
using type_numbers = std::array<std::uint32_t, type_count>;
using type_masses = std::array<double, type_count>;

/// Something of the library that is closed at the end of its scope.
class handle {
 public:
  handle(hid_t id, herr_t (*close)(hid_t)) noexcept : id_(id), close_(close) {}
  handle(handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  handle& operator=(handle&&) = delete;
  ~handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] hid_t id() const noexcept { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// A file, with words for what fails.
class hdf5_file {
 public:
  hdf5_file(const std::string& name, bool writes) : name_(name), file_(open(name, writes), H5Fclose), writes_(writes) {
    if (file_.id() < 0) fail(writes ? "cannot be made" : "is no HDF5 file, or a truncated one");
  }
  [[noreturn]] void fail(const std::string& name) const {
    throw nacre::setup_error({fmt::format("{} {}", name_, name),
                              writes_ ? "the last state is to be written there" : "bodies are read from it",
                              writes_ ? "try another folder" : "h5dump shows what is in the file"});
  }
  /// Throws for a file that is in order, but not for nbody.
  [[noreturn]] void refuse(const std::string& fact, const char* reason, const std::string& advice) const {
    throw nacre::setup_error({fmt::format("{} {}", name_, fact), reason, advice});
  }
  [[nodiscard]] bool has(const std::string& path) const { return H5Lexists(file_.id(), path.c_str(), H5P_DEFAULT) > 0; }
  [[nodiscard]] hid_t id() const noexcept { return file_.id(); }

  template <class T>
  [[nodiscard]] T attribute(const char* title, hid_t type, bool required = true) const {
    T value{};
    const handle group(H5Gopen(file_.id(), "Header", H5P_DEFAULT), H5Gclose);
    if (group.id() < 0) fail("has no group Header");
    if (!required && H5Aexists(group.id(), title) <= 0) return value;
    const handle match(H5Aopen(group.id(), title, H5P_DEFAULT), H5Aclose);
    if (match.id() < 0) fail(fmt::format("has no attribute Header/{}", title));
    const handle space(H5Aget_space(match.id()), H5Sclose);
    const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id()));
    std::size_t wanted = 1;
    if constexpr (!std::is_arithmetic_v<T>) wanted = type_count;
    if (count != wanted) fail(fmt::format("has {} numbers in Header/{}, not {}", count, title, wanted));
    if (H5Aread(match.id(), type, &value) < 0) fail(fmt::format("has an unreadable attribute Header/{}", title));
    return value;
  }
  [[nodiscard]] bool has_attribute(const char* group, const char* title) const {
    return has(group) && H5Aexists_by_name(file_.id(), group, title, H5P_DEFAULT) > 0;
  }
  /// The largest number of an attribute, which some programs write once for each axis; 0 if there is none.
  [[nodiscard]] double largest(const char* group, const char* title) const {
    if (!has_attribute(group, title)) return 0;
    const handle match(H5Aopen_by_name(file_.id(), group, title, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const handle space(H5Aget_space(match.id()), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space.id());
    std::vector<double> values(count > 0 ? static_cast<std::size_t>(count) : 1);
    if (count < 1 || H5Aread(match.id(), H5T_NATIVE_DOUBLE, values.data()) < 0) {
      fail(fmt::format("has no number in {}/{}", group, title));
    }
    return *std::max_element(values.begin(), values.end());
  }
  /// A data set of `rows` rows of `columns` numbers.
  template <class T>
  [[nodiscard]] std::vector<T> data(const std::string& path, hsize_t rows, hsize_t columns, hid_t type) const {
    const handle set(H5Dopen(file_.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (set.id() < 0) fail(fmt::format("has no data set {}", path));
    const handle space(H5Dget_space(set.id()), H5Sclose);
    const auto count = static_cast<hsize_t>(H5Sget_simple_extent_npoints(space.id()));
    if (count != rows * columns) fail(fmt::format("has {} numbers in {}, not {}", count, path, rows * columns));
    std::vector<T> values(rows * columns);
    const herr_t read = H5Dread(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    if (read < 0) fail(fmt::format("ends within {}, or cannot be read there", path));
    return values;
  }
  template <class T>
  void write_attribute(hid_t group, const char* title, const T& value, hid_t type) const {
    hsize_t count = type_count;
    const hid_t shape = std::is_arithmetic_v<T> ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
    const handle space(shape, H5Sclose);
    const handle result(H5Acreate(group, title, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (result.id() < 0 || H5Awrite(result.id(), type, &value) < 0) fail(fmt::format("takes no attribute {}", title));
  }
  void write_data(hid_t group, const char* title, const void* values, hsize_t rows, hsize_t columns, hid_t type) const {
    const std::array<hsize_t, 2> shape{rows, columns};
    const handle space(H5Screate_simple(columns == 1 ? 1 : 2, shape.data(), nullptr), H5Sclose);
    const handle result(H5Dcreate(group, title, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    if (result.id() < 0 || H5Dwrite(result.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
      fail(fmt::format("takes no data set {}: the disk may be full", title));
    }
  }
  /// With 32 bits where they suffice.
  void write_ids(hid_t group, const std::vector<std::uint64_t>& ids) const {
    const bool fit = std::all_of(ids.begin(), ids.end(), [](std::uint64_t id) { return id <= ~std::uint32_t{0}; });
    if (!fit) return write_data(group, "ParticleIDs", ids.data(), ids.size(), 1, H5T_NATIVE_UINT64);
    const std::vector<std::uint32_t> narrow(ids.begin(), ids.end());
    write_data(group, "ParticleIDs", narrow.data(), narrow.size(), 1, H5T_NATIVE_UINT32);
  }

 private:
  static hid_t open(const std::string& name, bool writes) {
    H5Eset_auto(H5E_DEFAULT, nullptr, nullptr);  // it would print what fails
    return writes ? H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                  : H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  }
  std::string name_;
  handle file_;
  bool writes_;
};

void read_type(const hdf5_file& file, std::size_t type, std::uint32_t count, double mass, snapshot& content) {
  const std::string group = fmt::format("PartType{}", type);
  if (!file.has(group))
    file.fail(fmt::format("has no group {}, but the header tells of {} bodies in it", group, count));
  const auto places = file.data<double>(group + "/Coordinates", count, 3, H5T_NATIVE_DOUBLE);
  const auto velocities = file.data<double>(group + "/Velocities", count, 3, H5T_NATIVE_DOUBLE);
  std::vector<double> masses;
  if (mass == 0) masses = file.data<double>(group + "/Masses", count, 1, H5T_NATIVE_DOUBLE);
  for (std::size_t k = 0; k < count; ++k) {
    body next;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      next.place[axis] = places[3 * k + axis], next.velocity[axis] = velocities[3 * k + axis];
    }
    next.mass = mass == 0 ? masses[k] : mass;
    next.number = static_cast<std::uint32_t>(content.bodies.size());
    content.bodies.push_back(next);
  }
  if (!file.has(group + "/ParticleIDs")) return;
  const auto ids = file.data<std::uint64_t>(group + "/ParticleIDs", count, 1, H5T_NATIVE_UINT64);
  content.ids.insert(content.ids.end(), ids.begin(), ids.end());
}

/// Leaves out the names of bodies if some have none, or if they are those that nbody gives.
void keep_needed_ids(snapshot& content) {
  const std::vector<std::uint64_t>& ids = content.ids;
  std::size_t ordinary = 0;
  while (ordinary < ids.size() && ids[ordinary] == ordinary + 1) ++ordinary;
  if (ids.size() != content.bodies.size() || ordinary == ids.size()) content.ids = {};
}

/// Comoving bodies have Time as the scale factor, 1 / (1 + Redshift).
void demand_no_expansion(const hdf5_file& file, double time) {
  const char* flag = "ComovingIntegrationOn";
  const double redshift = file.largest("Header", "Redshift"), density = file.largest("Header", "Omega0");
  const bool is_said =
      file.largest("Parameters", flag) != 0 || file.largest("Cosmology", "Cosmological run") != 0 || redshift != 0;
  const bool is_meant = time == 1 && density > 0 && !file.has_attribute("Parameters", flag);
  if (!is_said && !is_meant) return;
  file.refuse(fmt::format("has bodies in an expanding universe: Header has Redshift {}, Time {} and Omega0 {}",
                          redshift, time, density),
              "nbody knows places, velocities and times that do not expand",
              "convert them to physical ones, and set Redshift and Omega0 to 0");
}

constexpr std::array<const char*, 3> unit_titles{"UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s"};

/// Programs of GADGET's kind write them in one of three groups; none: not known.
file_units read_units(const hdf5_file& file) {
  for (const char* group : {"Header", "Parameters", "Units"}) {
    const file_units units{file.largest(group, unit_titles[0]), file.largest(group, unit_titles[1]),
                           file.largest(group, unit_titles[2])};
    if (gravity_of(units) > 0) return units;
  }
  return {};
}

/// A body outside the box shows that the box is not one that space repeats.
void demand_open_space(const hdf5_file& file, const std::vector<body>& bodies) {
  const double size = file.largest("Header", "BoxSize");
  if (!(size > 0) || file.has_attribute("Config", "GRAVITY_NOT_PERIODIC")) return;
  const auto is_inside = [size](const body& each) {
    return std::all_of(each.place.begin(), each.place.end(), [size](double x) { return x >= 0 && x <= size; });
  };
  if (!std::all_of(bodies.begin(), bodies.end(), is_inside)) return;
  file.refuse(fmt::format("has a periodic box: Header/BoxSize is {}, and all bodies are in it", size),
              "nbody computes gravity without the images of the box",
              "set BoxSize to 0 if the bodies are alone in space");
}

}  // namespace

bool has_hdf5() noexcept { return true; }

snapshot read_hdf5(const std::string& name) {
  const hdf5_file file(name, false);
  const auto numbers = file.attribute<type_numbers>("NumPart_ThisFile", H5T_NATIVE_UINT32);
  const auto masses = file.attribute<type_masses>("MassTable", H5T_NATIVE_DOUBLE);
  const auto files = file.attribute<std::int32_t>("NumFilesPerSnapshot", H5T_NATIVE_INT32, false);
  if (files > 1) file.fail(fmt::format("is one of {} files of a snapshot, which nbody does not join", files));
  snapshot content{.time = file.attribute<double>("Time", H5T_NATIVE_DOUBLE, false)};
  for (std::size_t type = 0; type < type_count; ++type) {
    if (numbers[type] != 0) read_type(file, type, numbers[type], masses[type], content);
  }
  demand_no_expansion(file, content.time);
  demand_open_space(file, content.bodies);
  keep_needed_ids(content);
  content.units = read_units(file);
  return content;
}

void write_hdf5(const std::string& name, const snapshot& content) {
  const hdf5_file file(name, true);
  const auto count = static_cast<std::uint32_t>(content.bodies.size());
  const type_numbers numbers{0, count}, none{};
  const type_masses masses{};
  const double zero = 0;
  const std::int32_t one = 1, no = 0;
  const handle header(H5Gcreate(file.id(), "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  const hid_t group = header.id();
  file.write_attribute(group, "NumPart_ThisFile", numbers, H5T_NATIVE_UINT32);
  file.write_attribute(group, "NumPart_Total", numbers, H5T_NATIVE_UINT32);
  file.write_attribute(group, "NumPart_Total_HighWord", none, H5T_NATIVE_UINT32);
  file.write_attribute(group, "MassTable", masses, H5T_NATIVE_DOUBLE);
  file.write_attribute(group, "Time", content.time, H5T_NATIVE_DOUBLE);
  for (const char* title : {"Redshift", "BoxSize", "Omega0", "OmegaLambda"}) {
    file.write_attribute(group, title, zero, H5T_NATIVE_DOUBLE);
  }
  file.write_attribute(group, "HubbleParam", 1.0, H5T_NATIVE_DOUBLE);
  file.write_attribute(group, "NumFilesPerSnapshot", one, H5T_NATIVE_INT32);
  for (const char* title : {"Flag_Sfr", "Flag_Feedback", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals"}) {
    file.write_attribute(group, title, no, H5T_NATIVE_INT32);
  }
  file.write_attribute(group, "Flag_DoublePrecision", one, H5T_NATIVE_INT32);
  if (gravity_of(content.units) > 0) {
    const std::array<double, 3> values{content.units.length, content.units.mass, content.units.velocity};
    for (std::size_t k = 0; k < 3; ++k) file.write_attribute(group, unit_titles[k], values[k], H5T_NATIVE_DOUBLE);
  }
  std::vector<double> places, velocities, each_mass;
  std::vector<std::uint64_t> ids;
  for (const body& each : content.bodies) {
    places.insert(places.end(), each.place.begin(), each.place.end());
    velocities.insert(velocities.end(), each.velocity.begin(), each.velocity.end());
    each_mass.push_back(each.mass), ids.push_back(content.ids.empty() ? each.number + 1ull : content.ids[each.number]);
  }
  const handle bodies(H5Gcreate(file.id(), "PartType1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  file.write_data(bodies.id(), "Coordinates", places.data(), count, 3, H5T_NATIVE_DOUBLE);
  file.write_data(bodies.id(), "Velocities", velocities.data(), count, 3, H5T_NATIVE_DOUBLE);
  file.write_data(bodies.id(), "Masses", each_mass.data(), count, 1, H5T_NATIVE_DOUBLE);
  file.write_ids(bodies.id(), ids);
  if (H5Fflush(file.id(), H5F_SCOPE_LOCAL) < 0) file.fail("cannot be written to its end: the disk may be full");
}

#else

namespace {
[[noreturn]] void refuse_hdf5(const std::string& name) {
  throw nacre::setup_error({name + " is an HDF5 file", "this nbody was built without libhdf5",
                            "install libhdf5-dev and configure again, or use a .txt file"});
}
}  // namespace

bool has_hdf5() noexcept { return false; }
snapshot read_hdf5(const std::string& name) { refuse_hdf5(name); }
void write_hdf5(const std::string& name, const snapshot&) { refuse_hdf5(name); }

#endif

}  // namespace nbody
