# SPDX-License-Identifier: Apache-2.0
"""Every source includes the headers of the standard names that it uses, for tools/tidy: a standard library brings along what it
likes, and the next one likes less."""
import re

from cpp_text import COMMENT_OR_LITERAL, blank

CONTAINERS = "array deque forward_list list map set span string string_view unordered_map unordered_set vector"
STREAMS = "istream ostream iostream fstream sstream"

# header, and the names behind std:: that it declares.
NAMES_OF = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy_backward copy_if copy_n count count_if equal "
                 "equal_range fill fill_n find_if find_if_not for_each generate generate_n includes inplace_merge is_heap "
                 "is_sorted lexicographical_compare lower_bound make_heap max max_element merge min min_element minmax "
                 "minmax_element mismatch move_backward next_permutation none_of nth_element partial_sort partition "
                 "partition_point pop_heap push_heap remove_if replace replace_if reverse rotate search set_difference "
                 "set_intersection set_union shuffle sort sort_heap stable_partition stable_sort transform unique "
                 "unique_copy upper_bound ranges::all_of ranges::any_of ranges::count_if ranges::find ranges::find_if ranges::sort",
    "array": "array to_array",
    "atomic": "atomic atomic_flag atomic_ref atomic_signal_fence atomic_thread_fence memory_order memory_order_acq_rel "
              "memory_order_acquire memory_order_consume memory_order_relaxed memory_order_release memory_order_seq_cst",
    "barrier": "barrier",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_one countl_zero countr_one countr_zero endian has_single_bit popcount "
           "rotl rotr",
    "bitset": "bitset",
    "cctype": "isalnum isalpha isdigit isprint isspace isupper isxdigit tolower toupper",
    "charconv": "from_chars from_chars_result to_chars to_chars_result",
    "chrono": "chrono chrono_literals",
    "cmath": "acos asin asinh atan atan2 cbrt ceil copysign cos cosh erf exp exp2 expm1 fabs floor fma fmax fmin fmod frexp hypot "
             "ilogb isfinite isinf isnan ldexp llround llroundl log log10 log1p log2 lround nan nearbyint nextafter pow "
             "remainder round scalbn signbit sin sinh sqrt tan tanh trunc",
    "compare": "common_comparison_category compare_three_way partial_ordering strong_ordering weak_ordering",
    "complex": "complex",
    "concepts": "assignable_from constructible_from convertible_to copy_constructible copyable derived_from "
                "equality_comparable floating_point integral invocable movable move_constructible predicate regular same_as "
                "semiregular signed_integral totally_ordered unsigned_integral",
    "condition_variable": "condition_variable condition_variable_any",
    "coroutine": "coroutine_handle coroutine_traits noop_coroutine suspend_always suspend_never",
    "csignal": "raise sig_atomic_t signal",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t to_integer",
    "cstdint": "int16_t int32_t int64_t int8_t intmax_t intptr_t uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t",
    "cstdio": "FILE clearerr fclose ferror fflush fgets fopen fprintf fputc fputs fread freopen fseek ftell fwrite perror printf putchar setvbuf "
              "puts rename snprintf sscanf tmpfile vsnprintf",
    "cstdlib": "_Exit abort aligned_alloc at_quick_exit atexit atof atoi calloc exit free getenv malloc quick_exit realloc strtod "
               "strtof strtol strtoll strtoul strtoull system",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen strncmp strncpy strrchr strstr",
    "ctime": "clock clock_t gmtime localtime mktime strftime time time_t tm",
    "deque": "deque",
    "exception": "current_exception exception_ptr get_terminate make_exception_ptr nested_exception rethrow_exception "
                 "rethrow_if_nested set_terminate terminate terminate_handler throw_with_nested uncaught_exceptions",
    "filesystem": "filesystem",
    "forward_list": "forward_list",
    "fstream": "fstream ifstream ofstream",
    "functional": "bind_front bit_and bit_or bit_xor cref divides equal_to function greater greater_equal invoke less less_equal "
                  "logical_and logical_not logical_or minus mem_fn multiplies negate not_equal_to not_fn plus ref "
                  "reference_wrapper",
    "future": "async future future_status packaged_task promise shared_future",
    "iomanip": "put_time quoted setfill setprecision setw",
    "iostream": "cerr cin clog cout",
    "iterator": "advance back_inserter bidirectional_iterator_tag contiguous_iterator distance forward_iterator_tag "
                "input_iterator_tag inserter istream_iterator istreambuf_iterator iterator_traits make_move_iterator "
                "make_reverse_iterator next ostream_iterator prev random_access_iterator_tag reverse_iterator",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list pmr::list",
    "map": "map multimap pmr::map",
    "memory": "addressof align allocate_shared allocator allocator_arg allocator_traits assume_aligned construct_at default_delete destroy "
              "destroy_at destroy_n enable_shared_from_this make_shared make_unique make_unique_for_overwrite pointer_traits "
              "shared_ptr uninitialized_copy uninitialized_move unique_ptr weak_ptr",
    "memory_resource": "pmr::memory_resource pmr::monotonic_buffer_resource pmr::polymorphic_allocator",
    "mutex": "call_once lock lock_guard mutex once_flag recursive_mutex scoped_lock timed_mutex try_to_lock unique_lock",
    "new": "align_val_t bad_alloc destroying_delete_t get_new_handler launder new_handler nothrow nothrow_t set_new_handler",
    "numbers": "numbers",
    "numeric": "accumulate adjacent_difference exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint partial_sum reduce",
    "optional": "make_optional nullopt nullopt_t optional",
    "queue": "priority_queue queue",
    "random": "bernoulli_distribution discrete_distribution exponential_distribution mt19937 mt19937_64 normal_distribution "
              "random_device uniform_int_distribution uniform_random_bit_generator uniform_real_distribution",
    "ranges": "ranges::contiguous_range ranges::range_value_t",
    "ratio": "ratio",
    "regex": "regex regex_match regex_replace regex_search smatch sregex_iterator",
    "semaphore": "binary_semaphore counting_semaphore",
    "set": "multiset set",
    "shared_mutex": "shared_lock shared_mutex",
    "source_location": "source_location",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "sstream": "istringstream ostringstream stringstream",
    "stack": "stack",
    "stdexcept": "domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error",
    "stop_token": "stop_callback stop_source stop_token",
    "string": "basic_string char_traits getline stod stof stoi stol stoll stoul stoull string string_literals to_string u16string "
              "u32string u8string wstring",
    "string_view": "basic_string_view string_view string_view_literals u16string_view",
    "system_error": "errc error_category error_code error_condition generic_category make_error_code system_category "
                    "system_error",
    "thread": "jthread this_thread thread",
    "tuple": "apply forward_as_tuple ignore make_from_tuple make_tuple tie tuple tuple_cat",
    "type_traits": "add_const_t add_lvalue_reference_t add_pointer_t aligned_storage_t alignment_of_v bool_constant common_type_t "
                   "conditional conditional_t conjunction_v decay_t disjunction_v enable_if_t extent_v false_type "
                   "has_unique_object_representations_v has_virtual_destructor_v integral_constant invoke_result invoke_result_t "
                   "is_abstract_v is_aggregate_v is_arithmetic_v is_array_v is_base_of_v is_class_v is_const_v "
                   "is_constant_evaluated is_constructible_v is_convertible_v is_copy_assignable_v is_copy_constructible_v "
                   "is_default_constructible_v is_destructible_v is_empty_v is_enum_v is_final_v is_floating_point_v "
                   "is_function_v is_integral_v is_invocable is_invocable_r_v is_invocable_v is_lvalue_reference_v "
                   "is_member_function_pointer_v is_member_object_pointer_v is_member_pointer_v is_move_assignable_v "
                   "is_move_constructible_v is_nothrow_constructible_v is_nothrow_default_constructible_v "
                   "is_nothrow_destructible_v is_nothrow_invocable_v is_nothrow_move_assignable_v "
                   "is_nothrow_move_constructible_v is_null_pointer_v is_pointer_v is_polymorphic_v is_reference_v "
                   "is_rvalue_reference_v is_same is_same_v is_signed_v is_standard_layout_v is_trivial_v "
                   "is_trivially_copyable is_trivially_copyable_v is_trivially_destructible_v is_union_v is_unsigned_v is_void "
                   "is_void_v make_signed_t make_unsigned_t negation_v rank_v remove_all_extents_t remove_const_t remove_cv_t "
                   "remove_cvref_t remove_extent_t remove_pointer_t remove_reference_t true_type type_identity type_identity_t "
                   "underlying_type underlying_type_t void_t",
    "typeindex": "type_index",
    "typeinfo": "bad_cast type_info",
    "unordered_map": "pmr::unordered_map unordered_map unordered_multimap",
    "unordered_set": "unordered_multiset unordered_set",
    "utility": "as_const cmp_greater cmp_less declval exchange forward forward_like in_range index_sequence index_sequence_for integer_sequence "
               "make_index_sequence make_integer_sequence make_pair pair piecewise_construct to_underlying unreachable",
    "variant": "bad_variant_access get_if holds_alternative monostate variant variant_alternative_t variant_npos "
               "variant_size_v visit",
    "vector": "pmr::vector vector",
}

# Names that the standard puts into several headers: the first is the one to add.
HEADERS_OF = {name: [header] for header, names in NAMES_OF.items() for name in names.split()}
HEADERS_OF |= {name: headers.split() for names, headers in {
    "size_t": "cstddef cstdio cstdlib cstring ctime cwchar",
    "move": "utility algorithm",
    "copy": "algorithm",
    "find": "algorithm",
    "remove": "algorithm cstdio",
    "swap": "utility " + CONTAINERS,
    "get": "tuple utility array variant ranges complex",
    "tuple_element_t tuple_size tuple_size_v": "tuple utility array",
    "in_place in_place_index in_place_type": "utility optional variant",
    "abs": "cmath cstdlib",
    "begin cbegin cend data empty end rbegin rend size ssize": "iterator " + CONTAINERS,
    "erase erase_if": "vector " + CONTAINERS,
    "hash": "functional bitset coroutine memory optional string string_view system_error thread typeindex variant vector",
    "initializer_list": "initializer_list " + CONTAINERS,
    "exception": "exception stdexcept new typeinfo system_error",
    "runtime_error": "stdexcept system_error",
    "ostream": "ostream iosfwd " + STREAMS,
    "istream": "istream iosfwd " + STREAMS,
    "endl flush": "ostream iostream",
    "ws": "istream iostream",
    "nano micro milli": "ratio chrono",
    "ranges::enable_view": "ranges span string_view",
    "ios ios_base hex dec fixed scientific streamoff streamsize streampos": "ios " + STREAMS,
}.items() for name in names.split()}
STANDARD = set(NAMES_OF) | {header for headers in HEADERS_OF.values() for header in headers} | set(
    "any cassert cerrno cfenv cfloat cinttypes climits clocale codecvt csetjmp cstdarg cuchar cwchar cwctype execution expected "
    "format initializer_list ios iosfwd istream locale memory ostream ranges scoped_allocator streambuf strstream syncstream "
    "valarray version".split())
MACROS = {"errno": "cerrno", "EXIT_FAILURE": "cstdlib", "EXIT_SUCCESS": "cstdlib", "offsetof": "cstddef",
          "UINT32_MAX": "cstdint", "UINT64_MAX": "cstdint", "INT64_MAX": "cstdint", "va_list": "cstdarg", "va_start": "cstdarg"}

USE = re.compile(r"\bstd\s*::\s*(?:((?:ranges|pmr)::\w+)|(\w+))|(?<![\w:])(" + "|".join(MACROS) + r")\b")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def missing_headers(tree, name):
    """{standard header: (line, name) of the first use} of those that `name` uses and does not include. Sources x.cpp,
    x_test.cpp and x_fuzz.cpp also have what their header x.hpp includes itself."""
    included = {path for _, _, path in tree.includes(name)}
    stem = re.sub(r"(_test|_fuzz)?\.cpp$", ".hpp", name.rsplit("/", 1)[-1])
    for _, _, path in tree.includes(name):
        own = tree.included_file(name, path) if path.rsplit("/", 1)[-1] == stem else None
        if own and own != name:
            included |= {other for _, _, other in tree.includes(own)}
    text = re.sub(COMMENT_OR_LITERAL, blank, tree.text[name])
    missing = {}
    for match in USE.finditer(text):
        word = match[1] or match[2] or match[3]
        headers = [MACROS[word]] if match[3] else HEADERS_OF.get(word, [])
        if headers and headers[0] not in missing and included.isdisjoint(headers):
            missing[headers[0]] = (text.count("\n", 0, match.start()) + 1, match[0])
    return missing


def unknown_names(text):
    """(line, name) of each first std:: name that NAMES_OF does not have: of those nobody could say that a header is missing."""
    text = re.sub(COMMENT_OR_LITERAL, blank, text)
    seen = set()
    for match in USE.finditer(text):
        word = match[1] or match[2]
        if word and word not in HEADERS_OF and word not in seen:
            seen.add(word)
            yield text.count("\n", 0, match.start()) + 1, match[0]


def check_includes(tree):
    for name in tree.code:
        for line, word in unknown_names(tree.text[name]):
            tree.report(name, line, "include", f"{word} is in no header that NAMES_OF of tools/tidy_includes.py has: add it there")
        for header, (line, word) in missing_headers(tree, name).items():
            tree.report(name, line, "include", f"{word} is declared by <{header}>: include it (tidy --add-includes does)")


def with_headers(text, headers):
    """`text` with the standard `headers` among its others, or in a group of their own behind the own header and those of C."""
    lines = text.split("\n")
    for header in sorted(headers):
        at, lonely = place_of(lines, header)
        lines[at:at] = [f"#include <{header}>"]
        if lonely:
            if lines[at - 1].strip() and not lines[at - 1].startswith("//"):
                lines[at:at] = [""]
                at += 1
            if lines[at + 1].strip():
                lines[at + 1:at + 1] = [""]
    return "\n".join(lines)


def place_of(lines, header):
    """(index at which an #include of `header` belongs, whether it begins a group)."""
    groups, after, depth = [[]], 0, 0
    for index, line in enumerate(lines):
        depth += bool(re.match(r"\s*#\s*if", line)) - bool(re.match(r"\s*#\s*endif", line))
        include = INCLUDE.match(line) if depth == 0 else None
        if include and include[1] == "<" and include[2] in STANDARD:
            if groups[-1] and groups[-1][-1] != index - 1:
                groups.append([])
            groups[-1].append(index)
        elif line == "#pragma once" or (line.startswith("//") and after == index):
            after = index + 1
        elif include and groups == [[]] and (is_of_c(include[2]) or stands_alone(lines, index)):
            after = index + 1
    group = max(groups, key=len)
    if not group:
        return after, True
    return next((index for index in group if INCLUDE.match(lines[index])[2] > header), group[-1] + 1), False


def is_of_c(path):
    return path.endswith(".h") and "/" not in path


def stands_alone(lines, index):
    """Whether line `index` is the first #include and a group of its own, as a source's own header is."""
    first = "#pragma once" not in lines and not any(INCLUDE.match(line) for line in lines[:index])
    return first and not (index + 1 < len(lines) and INCLUDE.match(lines[index + 1]))


def add_includes(tree):
    """Adds what check_includes misses; returns the names of the changed files."""
    changed = []
    for name in sorted(tree.code, key=lambda each: not each.endswith(".hpp")):  # sources need not repeat their header's
        if missing := missing_headers(tree, name):
            tree.text[name] = with_headers(tree.text[name], missing)
            (tree.root / name).write_text(tree.text[name], encoding="utf-8")
            changed.append(name)
    return changed
