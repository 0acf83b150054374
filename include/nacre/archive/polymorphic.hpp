// SPDX-License-Identifier: Apache-2.0
// The classes that an owner of a polymorphic base may hold, listed so that it is packed as the class that it holds.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <nacre/archive/traits.hpp>

namespace nacre {

/// The classes that a std::unique_ptr or a std::shared_ptr to the polymorphic class Base may own. A program gives the
/// list, at most 254 classes, in a function that is found by argument-dependent lookup, beside Base or as its friend:
///
///     constexpr nacre::polymorphic<shape, disc, square> classes_of(const shape*) { return {}; }
///
/// Base itself belongs to the list unless it is abstract. The list also serves owners of classes between Base and the
/// listed ones. Each class is packed by its own `serialize`, which names the members of its bases too, and needs a
/// default constructor or an `explicit T(nacre::deserialize_tag)`. An owner of any other class cannot be packed: that
/// throws usage_error.
template <class Base, class... Derived>
struct polymorphic {};

namespace detail {

template <class List>
struct listed_classes {
  static constexpr bool is_list = false;
};
template <class Base, class... Derived>
struct listed_classes<polymorphic<Base, Derived...>> {
  static constexpr bool is_list = true;
  static_assert(std::is_polymorphic_v<Base>, "nacre: the first class of nacre::polymorphic has a virtual function");
  static_assert((std::is_base_of_v<Base, Derived> && ...),
                "nacre: the classes behind the first one of nacre::polymorphic are derived from it");
  static_assert((!std::is_abstract_v<Derived> && ...),
                "nacre: no pointer owns an object of an abstract class: leave it "
                "out of nacre::polymorphic");
  static_assert(sizeof...(Derived) < 254, "nacre: a list of nacre::polymorphic has at most 254 classes");
  using types = std::conditional_t<std::is_abstract_v<Base>, std::tuple<std::type_identity<Derived>...>,
                                   std::tuple<std::type_identity<Base>, std::type_identity<Derived>...>>;
};

/// The classes that an owner of an Element may hold are listed.
template <class Element>
concept lists_classes = std::is_polymorphic_v<Element> && requires(const Element* none) {
  requires listed_classes<decltype(classes_of(none))>::is_list;
};
/// A tuple of std::type_identity.
template <class Element>
using classes_listed_for = typename listed_classes<decltype(classes_of(static_cast<const Element*>(nullptr)))>::types;

/// An owner that would lose what a class derived from its element adds.
template <class T>
concept slicing_owner = owning_pointer<T> && std::is_polymorphic_v<typename T::element_type> &&
                        !std::is_final_v<typename T::element_type> &&
                        !lists_classes<std::remove_cv_t<typename T::element_type>>;

/// Calls visit(number, std::type_identity<Class>) for the listed classes that an owner of an Element may hold, numbered
/// from 1 in the order of the list, until one call returns true. Returns whether one has.
template <class Element, class Visit>
bool visit_listed(Visit&& visit) {
  using types = classes_listed_for<Element>;
  constexpr auto can_be_held = []<class Class>(std::type_identity<Class>) { return std::is_base_of_v<Element, Class>; };
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    const auto visit_one = [&]<std::size_t Number>(std::integral_constant<std::size_t, Number>) {
      using identity = std::tuple_element_t<Number, types>;
      if constexpr (can_be_held(identity{})) {
        return visit(static_cast<std::uint8_t>(Number + 1), identity{});
      } else {
        return false;
      }
    };
    return (visit_one(std::integral_constant<std::size_t, Index>{}) || ...);
  }
  (std::make_index_sequence<std::tuple_size_v<types>>{});
}

/// Throws usage_error: an owner of a `base` holds an object of a class that is not listed.
[[noreturn]] void throw_unlisted_class(const std::type_info& held, const std::type_info& base);

/// Writes the number of the class of the object, and the object; 0 for no object.
template <class Ar, class Element>
void save_listed(Ar& ar, const Element* object) {
  if (object == nullptr) {
    ar.write_flat(std::uint8_t{0});
    return;
  }
  const std::type_info& held = typeid(*object);
  const bool is_listed = visit_listed<Element>([&]<class Class>(std::uint8_t number, std::type_identity<Class>) {
    if (held != typeid(Class)) return false;
    ar.write_flat(number);
    if constexpr (requires { static_cast<const Class*>(object); }) {
      save_value(ar, *static_cast<const Class*>(object));
    } else {
      save_value(ar, dynamic_cast<const Class&>(*object));  // the base is virtual
    }
    return true;
  });
  if (!is_listed) throw_unlisted_class(held, typeid(Element));
}

}  // namespace detail
}  // namespace nacre
