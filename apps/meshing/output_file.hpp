// SPDX-License-Identifier: Apache-2.0
// What the mesh programs share when they write files.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace meshing {

[[nodiscard]] bool ends_with(const std::string& text, const std::string& end);

/// Throws std::runtime_error, with the file and the cause, when that fails.
void write_file(const std::string& name, const std::function<void(std::ostream&)>& write);

/// A pale colour. Steps of the golden angle give neighbours in number different hues.
[[nodiscard]] std::string colour_of(std::uint32_t number);

/// The arrays of a .vtu file, which follow one another behind its text, in the byte order of this machine.
class appended_arrays {
 public:
  static_assert(std::endian::native == std::endian::little, "the header of the file says so");

  /// The element that names an array, for the text.
  template <class T>
  std::string declare(const std::string& type, const std::string& name, std::uint32_t components,
                      const std::vector<T>& values) {
    std::string text =
        fmt::format(R"(<DataArray type="{}" Name="{}" NumberOfComponents="{}" format="appended" offset="{}"/>)", type,
                    name, components, bytes_.size());
    const std::uint64_t size = values.size() * sizeof(T);
    append(&size, sizeof(size));
    append(values.data(), size);
    return text + "\n";
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void append(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  std::string bytes_;
};

/// A mesh for a .vtu file. All cells are of one kind and have `corners_a_cell` corners; `point_data` and `cell_data`
/// are elements that `arrays` has declared.
struct vtu_content {
  std::vector<double> points{};  // three for each
  std::vector<std::int32_t> corners{};
  std::uint32_t corners_a_cell = 0;
  std::uint8_t cell_type = 0;  // VTK's number
  std::string point_data{}, cell_data{};
  appended_arrays arrays{};
};

/// VTK's XML format for unstructured grids, with binary arrays behind the text. Consumes the content.
void write_vtu(vtu_content&& content, std::ostream& stream);

}  // namespace meshing
