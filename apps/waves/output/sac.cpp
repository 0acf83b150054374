// SPDX-License-Identifier: Apache-2.0
// Writes SAC files: 70 floats, 40 integers, 192 characters, then the values.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "output/files.hpp"

namespace waves {
namespace {

// Places in the header, by the names of the format's manual.
enum float_place : std::size_t {
  delta = 0,
  depmin = 1,
  depmax = 2,
  begin_time = 5,
  end_time = 6,
  origin_time = 7,
  station_depth = 34,
  event_depth = 38,
  dist = 50,
  az = 51,
  baz = 52,
  cmpaz = 57,
  cmpinc = 58
};
enum integer_place : std::size_t {
  nzyear = 0,
  nvhdr = 6,
  npts = 9,
  iftype = 15,
  idep = 16,
  iztype = 17,
  leven = 35,
  lpspol = 36,
  lovrok = 37,
  lcalda = 38
};
enum text_place : std::size_t { kstnm = 0, kcmpnm = 160 };

void put_text(std::array<char, 192>& texts, std::size_t place, const std::string& text) {
  std::fill_n(texts.begin() + static_cast<std::ptrdiff_t>(place), 8, ' ');
  std::copy_n(text.begin(), std::min<std::size_t>(text.size(), 8), texts.begin() + static_cast<std::ptrdiff_t>(place));
}

void put_event(const sac_event& event, std::array<float, 70>& floats) {
  floats[origin_time] = static_cast<float>(event.origin);
  floats[event_depth] = static_cast<float>(event.depth);
  floats[dist] = static_cast<float>(event.distance);
  if (!event.azimuth) return;
  floats[az] = static_cast<float>(*event.azimuth);
  floats[baz] = static_cast<float>(std::fmod(*event.azimuth + 180, 360));
}

}  // namespace

std::vector<std::string> station_codes(const std::vector<std::string>& names) {
  constexpr std::size_t letters = 8;
  std::set<std::string> taken;
  for (const std::string& each : names) {
    if (each.size() <= letters) taken.insert(each);
  }
  std::map<std::string, int> next;  // number behind a prefix
  std::vector<std::string> codes;
  for (const std::string& each : names) {
    std::string code = each.substr(0, letters);
    if (each.size() > letters) {
      for (int& number = next.try_emplace(code, 2).first->second; !taken.insert(code).second; ++number) {
        const std::string end = std::to_string(number);
        code = each.substr(0, letters - end.size()) + end;
      }
    }
    codes.push_back(code);
  }
  return codes;
}

std::string sac_bytes(const trace& values, const sac_channel& channel) {
  std::array<float, 70> floats;
  std::array<std::int32_t, 40> integers;
  std::array<char, 192> texts;
  floats.fill(-12345.0f);
  integers.fill(-12345);
  for (std::size_t place = 0; place < texts.size(); place += 8) put_text(texts, place, "-12345");
  const std::vector<float> samples(values.values.begin(), values.values.end());
  floats[delta] = static_cast<float>(values.dt);
  floats[begin_time] = static_cast<float>(values.begin);
  floats[end_time] = static_cast<float>(values.begin + values.dt * (static_cast<double>(samples.size()) - 1));
  if (!samples.empty()) {
    floats[depmin] = *std::min_element(samples.begin(), samples.end());
    floats[depmax] = *std::max_element(samples.begin(), samples.end());
  }
  floats[cmpaz] = static_cast<float>(channel.azimuth);
  floats[cmpinc] = static_cast<float>(channel.inclination);
  floats[station_depth] = static_cast<float>(channel.depth);
  if (channel.event) put_event(*channel.event, floats);
  constexpr std::array<std::int32_t, 6> epoch{1970, 1, 0, 0, 0, 0};  // year, day, hour, minute, second, millisecond
  std::copy(epoch.begin(), epoch.end(), integers.begin() + nzyear);
  integers[nvhdr] = 6;
  integers[npts] = static_cast<std::int32_t>(samples.size());
  integers[iftype] = 1;  // a time series
  integers[idep] = 6;    // displacement
  integers[iztype] = 9;  // the time 0 is that of the first sample
  integers[leven] = integers[lpspol] = integers[lovrok] = 1;
  integers[lcalda] = 0;
  put_text(texts, kstnm, channel.station);
  put_text(texts, kcmpnm, channel.component);
  std::string bytes(sizeof(floats) + sizeof(integers) + sizeof(texts) + samples.size() * sizeof(float), '\0');
  char* target = bytes.data();
  const auto put = [&](const void* source, std::size_t size) {
    std::memcpy(target, source, size);
    target += size;
  };
  put(floats.data(), sizeof(floats));
  put(integers.data(), sizeof(integers));
  put(texts.data(), sizeof(texts));
  put(samples.data(), samples.size() * sizeof(float));
  return bytes;
}

}  // namespace waves
