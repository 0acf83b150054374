// SPDX-License-Identifier: Apache-2.0
// Owners of polymorphic bases: packed as the class that they hold, if it is listed.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/error.hpp>

namespace {

using nacre::pack;
using nacre::unpack;
using nacre::wire_error;

struct shape {
  virtual ~shape() = default;
  [[nodiscard]] virtual std::string text() const = 0;
  std::uint16_t id = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(id);
  }
};
struct disc : shape {
  disc() = default;
  disc(std::uint16_t number, double length) : radius(length) { id = number; }
  [[nodiscard]] std::string text() const override {
    return "disc " + std::to_string(id) + " " + std::to_string(int(radius));
  }
  double radius = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    shape::serialize(ar);
    ar(radius);
  }
};
/// Derived from another listed class, and without a default constructor.
struct ring final : disc {
  explicit ring(nacre::deserialize_tag /*tag*/) {}
  explicit ring(std::string given) : name(std::move(given)) {}
  [[nodiscard]] std::string text() const override { return "ring " + name; }
  std::string name;
  template <class Archive>
  void serialize(Archive& ar) {
    disc::serialize(ar);
    ar(name);
  }
};
/// Owns others of the family.
struct pair final : shape {
  std::unique_ptr<shape> left, right;
  [[nodiscard]] std::string text() const override {
    return "(" + (left ? left->text() : "-") + ", " + (right ? right->text() : "-") + ")";
  }
  template <class Archive>
  void serialize(Archive& ar) {
    shape::serialize(ar);
    ar(left, right);
  }
};
struct unlisted final : disc {};

constexpr nacre::polymorphic<shape, disc, ring, pair> classes_of(const shape* /*none*/) { return {}; }

/// A base that is no abstract class, and that is inherited virtually.
struct node {
  virtual ~node() = default;
  int value = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};
struct left_node : virtual node {
  template <class Archive>
  void serialize(Archive& ar) {
    node::serialize(ar);
  }
};
struct right_node : virtual node {};
struct both final : left_node, right_node {
  int more = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    node::serialize(ar);
    ar(more);
  }
};
constexpr nacre::polymorphic<node, left_node, both> classes_of(const node* /*none*/) { return {}; }

template <class T>
T copy_of(const T& value) {
  auto read = unpack<T>(pack(value));
  EXPECT_TRUE(read.has_value());
  return std::move(read.value());
}
template <class T>
wire_error error_of(std::span<const std::byte> bytes) {
  const auto read = unpack<T>(bytes);
  return read ? wire_error::none : read.error();
}

TEST(archive_polymorphic, an_owner_of_a_base_is_packed_as_the_class_that_it_holds) {
  std::vector<std::unique_ptr<shape>> shapes;
  shapes.push_back(std::make_unique<disc>(std::uint16_t{1}, 5.0));
  shapes.push_back(nullptr);
  shapes.push_back(std::make_unique<ring>("of gold"));
  auto two = std::make_unique<pair>();
  two->right = std::make_unique<disc>(std::uint16_t{2}, 7.0);
  shapes.push_back(std::move(two));
  const auto read = copy_of(shapes);
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[0]->text(), "disc 1 5");
  EXPECT_EQ(read[1], nullptr);
  EXPECT_EQ(read[2]->text(), "ring of gold");
  EXPECT_EQ(read[3]->text(), "(-, disc 2 7)");
}

TEST(archive_polymorphic, shared_pointers_and_pointers_to_constants_are_owners_too) {
  const std::map<int, std::shared_ptr<const shape>> shapes{{3, std::make_shared<ring>("a")}};
  EXPECT_EQ(copy_of(shapes).at(3)->text(), "ring a");
}

TEST(archive_polymorphic, an_owner_of_a_class_between_holds_what_is_derived_from_that) {
  const std::unique_ptr<disc> one = std::make_unique<ring>("b");
  EXPECT_EQ(copy_of(one)->text(), "ring b");
  std::vector<std::byte> bytes = pack(std::unique_ptr<shape>(std::make_unique<pair>()));
  EXPECT_EQ(error_of<std::unique_ptr<shape>>(bytes), wire_error::none);
  EXPECT_EQ(error_of<std::unique_ptr<disc>>(bytes), wire_error::bad_variant_index);
}

TEST(archive_polymorphic, a_base_that_is_not_abstract_belongs_to_the_list_and_may_be_virtual) {
  std::vector<std::unique_ptr<node>> nodes;
  nodes.push_back(std::make_unique<node>());
  nodes.push_back(std::make_unique<left_node>());
  nodes.push_back(std::make_unique<both>());
  nodes[0]->value = 1;
  nodes[1]->value = 2;
  dynamic_cast<both&>(*nodes[2]).more = 4;
  const auto read = copy_of(nodes);
  const node &first = *read[0], &second = *read[1];
  EXPECT_EQ(typeid(first), typeid(node));
  EXPECT_EQ(first.value, 1);
  EXPECT_EQ(typeid(second), typeid(left_node));
  EXPECT_EQ(second.value, 2);
  EXPECT_EQ(dynamic_cast<const both&>(*read[2]).more, 4);
}

TEST(archive_polymorphic, the_format_is_the_documented_one) {
  const std::unique_ptr<shape> none, one = std::make_unique<disc>(std::uint16_t{0x0201}, 0.0);
  EXPECT_EQ(pack(none), (std::vector<std::byte>{std::byte{0}}));
  EXPECT_EQ(pack(one), pack(std::uint8_t{1}, std::uint16_t{0x0201}, 0.0));
  EXPECT_EQ(pack(std::unique_ptr<node>(std::make_unique<node>())), pack(std::uint8_t{1}, 0));
  EXPECT_EQ(pack(std::unique_ptr<node>(std::make_unique<both>())), pack(std::uint8_t{3}, 0, 0));
}

TEST(archive_polymorphic, a_class_that_is_not_listed_is_refused_where_it_is_packed_and_where_it_is_read) {
  const std::unique_ptr<shape> one = std::make_unique<unlisted>();
  try {
    static_cast<void>(pack(one));
    FAIL() << "it is packed";
  } catch (const nacre::usage_error& thrown) {
    const std::string text = thrown.what();
    EXPECT_NE(text.find("unlisted cannot be packed"), std::string::npos) << text;
    EXPECT_NE(text.find("shape*) does not list its class"), std::string::npos) << text;
  }
  for (const int number : {4, 5, 255}) {
    EXPECT_EQ(error_of<std::unique_ptr<shape>>(pack(static_cast<std::uint8_t>(number), 0L, 0L)),
              wire_error::bad_variant_index);
  }
}

TEST(archive_polymorphic, every_strict_prefix_is_an_error) {
  const auto bytes = pack(std::unique_ptr<shape>(std::make_unique<ring>("of silver")));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(error_of<std::unique_ptr<shape>>(std::span(bytes).first(length)), wire_error::none) << length;
  }
}

}  // namespace
