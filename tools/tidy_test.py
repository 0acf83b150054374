#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of tools/tidy fires on an offence planted in a clean tree, and only on that."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
import tidy_classes
from planted_tree import BOOK, HEAD, HEADER, planted_tree, tidy

class clean(planted_tree):
    def test_a_clean_tree_has_no_offence(self):
        self.assertEqual(self.run_tidy()[0], [])

    def test_build_folders_are_not_read(self):
        self.write("build/release/x.cpp", "// FIXME\n")
        self.assertEqual(self.run_tidy()[0], [])


class heads(planted_tree):
    def test_a_missing_licence_line(self):
        self.write("src/base/a.cpp", "// Some file.\n// Really.\n")
        self.assert_offence("src/base/a.cpp:1: head", "SPDX-License-Identifier")

    def test_a_missing_sentence(self):
        self.write("src/base/a.cpp", tidy.SPDX + "\n\n")
        self.assert_offence("src/base/a.cpp:2: head", "one sentence")

    def test_a_header_without_pragma_once(self):
        self.write("src/base/a.hpp", HEAD)
        self.assert_offence("src/base/a.hpp:3: head", "#pragma once")


class plain_words(planted_tree):
    LINE = "src/wire/line.cpp"

    def test_a_line_of_more_than_120_columns(self):
        self.append(self.LINE, "// " + "x" * 118 + "\n")
        self.assert_offence("src/wire/line.cpp:6: columns", "break the line")
        self.write(self.LINE, HEAD + 'const char* help = R"(' + "x" * 118 + ')";\n')
        self.assertEqual(self.run_tidy()[0], [], "text for users keeps its lines")

    def test_a_comment_that_opens_without_a_noun(self):
        for opening in ("The same for two.", "That of the rank.", "Whoever sends it.", "What it takes."):
            with self.subTest(opening):
                self.write(self.LINE, HEAD + f"/// {opening}\nint line();\n")
                self.assert_offence("src/wire/line.cpp:3: opening", "name it")

    def test_the_second_line_of_a_sentence_may_open_so(self):
        self.append(self.LINE, "// It is put into\n// what waits.\n")
        self.assertEqual(self.run_tidy()[0], [])

    def test_a_row_of_a_table_that_has_wrapped(self):
        self.append(self.LINE, "/// | state | next |\n/// | idle | begins when\n/// told |\nint line();\n")
        self.assert_offence("src/wire/line.cpp:7: table", "one line")

    def test_too_many_words_that_stand_for_a_noun(self):
        self.append(self.LINE, "// It is the sender.\n" * 300)
        self.assertEqual(self.run_tidy()[0], [])
        for word, times in (("who", 1), ("what", 4)):
            with self.subTest(word):
                self.write(self.LINE, HEAD + "// It is the sender.\n" * 300 + f"// It is {word} sends.\n" * times)
                self.assert_offence("src:1: rate", "name the actor")

    def test_variables_whose_names_are_no_nouns(self):
        for number in range(9):
            self.write(f"src/wire/line_{number}.hpp", HEADER + "void f(rank_id target);\n" * 400)
        few, many = "void g(rank_id to);\n", "void g(const rank_id& from, item* what);\n" * 3
        self.write(self.LINE, HEAD + few + "int h() { return at(from ? to : what); }\n" * 9)
        self.assertEqual(self.run_tidy()[0], [], "one declaration; uses are none")
        self.write(self.LINE, HEAD + few + many)
        self.assert_offence("src/wire/line.cpp:6: name", "say what the thing is")

    def test_a_retired_word_in_a_name_or_a_comment(self):
        for line in ("int other_lane = 1;", "// Ends the crew.", 'const char* text = "a goodbye";'):
            with self.subTest(line):
                self.write(self.LINE, HEAD + line + "\n")
                self.assert_offence("src/wire/line.cpp:3: retired", "docs/glossary.md")

    def test_a_retired_word_is_allowed_in_programs(self):
        self.append("apps/reader/main.cpp", "int lanes = 8;  // of a vector\n")
        self.assertEqual(self.run_tidy()[0], [])


class words(planted_tree):
    def assert_banned(self, name, line, fix):
        self.append(name, line + "\n")
        number = len((self.root / name).read_text().splitlines())
        self.assert_offence(f"{name}:{number}: word", fix)

    def test_unfinished_work(self):
        for word in ("TODO", "FIXME", "XXX", "HACK"):
            with self.subTest(word):
                self.write("docs/a.md", "")
                self.assert_banned("docs/a.md", f"Later ({word}).", "finish it now")

    def test_sleeping_in_a_test(self):
        for word in ("std::this_thread::sleep_for(1s);", "usleep(5);"):
            with self.subTest(word):
                self.write("src/base/a_test.cpp", HEAD)
                self.assert_banned("src/base/a_test.cpp", word, "wait for the event")

    def test_sleeping_outside_of_tests_is_allowed(self):
        self.append("src/wire/line.cpp", "void f() { usleep(5); }\n")
        self.assertEqual(self.run_tidy()[0], [])

    def test_a_disabled_test(self):
        self.write("src/base/a_test.cpp", HEAD)
        self.assert_banned("src/base/a_test.cpp", "TEST(a, DISABLED_b) {}", "repair the test")

    def test_using_namespace_std(self):
        self.assert_banned("src/wire/line.cpp", "using namespace std;", "name what is used")

    def test_endl(self):
        self.assert_banned("src/wire/line.cpp", "void f() { out << std::endl; }", "'\\n'")

    def test_an_include_guard(self):
        self.assert_banned("src/wire/line.hpp", "#ifndef NACRE_LINE_HPP", "#pragma once")

    def test_a_macro_of_another_name(self):
        self.append("src/wire/line.cpp", "#define NACRE_FINE 1\n")
        self.assert_banned("src/wire/line.cpp", "#define EXPECT 1", "macros are NACRE_*")

    def test_a_fence(self):
        self.assert_banned("src/wire/line.cpp", "void f() { std::atomic_thread_fence(order); }", "thread sanitizer")

    def test_a_path_of_one_machine(self):
        for folder in ("work", "root", "home"):
            path = f"/{folder}/x"
            with self.subTest(path):
                self.write("docs/a.md", "")
                self.assert_banned("docs/a.md", f"see {path}", "relative to the repository")

    def test_a_relative_path_that_holds_such_a_folder_is_allowed(self):
        self.write("docs/a.md", "see src/work/x and https://nacre.example/root/x\n")
        self.assertEqual(self.run_tidy()[0], [])


class layers(planted_tree):
    def test_an_upward_include(self):
        self.append("src/base/stone.hpp", '#include "wire/other.hpp"\n')
        self.write("src/wire/other.hpp", HEADER)
        self.assert_offence("src/base/stone.hpp:5: layer", "base must not use wire")

    def test_an_upward_include_of_a_public_header(self):
        self.append("src/base/stone.hpp", "#include <nacre/book.hpp>\n")
        self.assert_offence("src/base/stone.hpp:5: layer", "base must not use wire")

    def test_neighbours_of_one_row(self):
        self.write("src/trace/a.hpp", HEADER + '#include "wire/line.hpp"\n')
        self.assert_offence("src/trace/a.hpp:4: layer", "trace must not use wire")

    def test_a_public_header_without_a_layer(self):
        self.write("include/nacre/lost.hpp", HEADER)
        self.assert_offence("include/nacre/lost.hpp:1: layer", "add lost to its layer in PUBLIC_HEADERS")

    def test_a_row_without_a_header(self):
        tidy.PUBLIC_HEADERS = {"wire": "book pages/ gone"}
        self.assert_offence("tools/tidy:1: layer", "names gone")

    def test_a_folder_that_is_no_layer(self):
        self.write("src/attic/a.cpp", HEAD)
        self.assert_offence("src/attic/a.cpp:1: layer", "LAYER_ROWS")

    def test_a_public_header_that_sees_src(self):
        self.append("include/nacre/pages/page.hpp", '#include "base/stone.hpp"\n')
        self.assert_offence("include/nacre/pages/page.hpp:5: layer", "as <nacre/...>")

    def test_a_public_header_that_sees_a_library(self):
        self.append("include/nacre/pages/page.hpp", "#include <fmt/format.h>\n")
        self.assert_offence("include/nacre/pages/page.hpp:5: layer", "move what needs <fmt/format.h> to src/")

    def test_an_include_relative_to_the_file(self):
        self.append("src/wire/line.cpp", '#include "line.hpp"\n')
        self.assert_offence("src/wire/line.cpp:6: layer", '"<layer>/line.hpp"')

    def test_a_program_that_sees_src(self):
        self.append("apps/reader/main.cpp", '#include "base/stone.hpp"\n')
        self.assert_offence("apps/reader/main.cpp:6: layer", "programs see only <nacre/...>")


class cycles(planted_tree):
    def test_two_headers_that_include_each_other(self):
        self.write("src/base/a.hpp", HEADER + '#include "base/b.hpp"\n')
        self.write("src/base/b.hpp", HEADER + '#include "base/a.hpp"\n')
        self.assert_offence("src/base/a.hpp:1: cycle", "src/base/a.hpp -> src/base/b.hpp -> src/base/a.hpp")


class lengths(planted_tree):
    def test_a_long_file(self):
        self.append("src/wire/line.cpp", "\n" * 600)
        self.assert_offence("src/wire/line.cpp:603: length", "split the file")

    def test_a_long_function(self):
        body = "  if (x) { f('{'); }  // {\n" * (tidy.FUNCTION_LINES_MAX - 1)
        for opening in ("int f(int x) {\n", "namespace a {\nstruct b : c {\n  b() : x_{1}, y_(2) {\n",
                        "template <class T, class U = x<T>>\nauto a::operator()(int x) const -> b<T> {\n"):
            with self.subTest(opening):
                closing = "}" * opening.count(" {\n") + "\n"
                self.write("src/base/a.cpp", HEAD + opening + body + closing)
                line = 2 + opening.count("\n")
                self.assert_offence(f"src/base/a.cpp:{line}: length", "give its steps names")
                shorter = body.split("\n", 1)[1]
                self.write("src/base/a.cpp", HEAD + opening + shorter + closing)
                self.assertEqual(self.run_tidy()[0], [])

    def test_a_class_of_many_member_functions(self):
        body = ("class shelf final : public wall {\n public:\n  shelf() = default;\n  friend void f(int);\n"
                "  struct part {\n    int width() const;\n  };\n  std::function<void(int)> kept;\n  int sum = add(1);\n%s};\n")
        for member in ("  [[nodiscard]] int f%d(int x) const noexcept;\n", "  explicit shelf(int, a<%d> b = {}) : x_(b) {}\n",
                       "  bool operator==(const x<%d>& y) const { return g(y); }\n"):
            with self.subTest(member):
                made = "".join(member % i for i in range(tidy_classes.MEMBERS_MAX))
                self.write("src/base/a.hpp", HEADER + body % made)
                self.assertEqual(self.run_tidy()[0], [])
                self.write("src/base/a.hpp", HEADER + body % (made + "  void one_more();\n"))
                self.assert_offence("src/base/a.hpp:4: class", "a class of its own")

    def test_a_name_of_two_functions_that_are_compiled_together(self):
        inside = "namespace nacre {\nnamespace {\n%s\n}  // namespace\n}  // namespace nacre\n"
        self.write("src/wire/a_test.cpp", HEAD + inside % "int made(int x) { return x; }")
        for other in ("int made(long x) { return 1; }", "std::string made(char x) {\n  return {};\n}"):
            with self.subTest(other):
                self.write("src/wire/b_test.cpp", HEAD + inside % other)
                self.assert_offence("src/wire/b_test.cpp:5: united", "give them two names")
        self.write("src/wire/b_test.cpp", HEAD + inside % "struct own {};\nint made(own x) { return 1; }")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("src/wire/b_test.cpp", HEAD + "namespace nacre {\nint made(long x) { return 1; }\n}  // namespace nacre\n")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("src/base/b_test.cpp", HEAD + inside % "int made(long x) { return 1; }")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("src/wire/a_test.cpp", HEAD + inside % "struct item {};\nconstexpr int limit = 1;")
        for thing in ("struct item {};", "class item final {};", "constexpr long limit = 2;", "const unsigned limit{3};"):
            with self.subTest(thing=thing):
                self.write("src/wire/b_test.cpp", HEAD + inside % thing)
                self.assert_offence("src/wire/b_test.cpp:5: united", "give them two names")
        self.write("src/wire/b_test.cpp", HEAD + inside % "struct item;")
        self.assertEqual(self.run_tidy()[0], [])

    def test_tables_and_classes_may_be_long(self):
        table = "constexpr row table[] = {\n" + "  {1, 2},\n" * 100 + "};\n"
        self.write("src/base/a.cpp", HEAD + table + "struct a {\n" + "  int x;\n" * 100 + "};\n")
        self.assertEqual(self.run_tidy()[0], [])


class rooms(planted_tree):
    def test_backends_do_not_use_each_other_but_auto_does(self):
        self.write("src/transport/tcp/frame.hpp", HEADER)
        self.write("src/transport/auto/both.cpp", HEAD + '#include "transport/tcp/frame.hpp"\n')
        self.assertEqual(self.run_tidy()[0], [])
        self.write("src/transport/ucx/end.cpp", HEAD + '#include "transport/tcp/frame.hpp"\n')
        self.assert_offence("src/transport/ucx/end.cpp:3: room", "ucx must not use tcp")

    def test_only_the_engine_sees_the_whole_of_mobile(self):
        self.write("src/mobile/object_space.hpp", HEADER)
        self.write("src/runtime/engine.hpp", HEADER + '#include "mobile/object_space.hpp"\n')
        self.assertEqual(self.run_tidy()[0], [])
        self.write("src/mobile/array/places.cpp", HEAD + '#include "mobile/object_space.hpp"\n')
        self.assert_offence("src/mobile/array/places.cpp:3: room", "only runtime/engine sees the whole")

    def test_no_arrow_runs_up_in_mobile(self):
        self.write("src/mobile/entry/inbox.hpp", HEADER)
        self.write("src/mobile/life/ends.hpp", HEADER + '#include "mobile/entry/inbox.hpp"\n')
        self.assertEqual(self.run_tidy()[0], [])
        self.write("src/mobile/object/step.cpp", HEAD + '#include "mobile/life/ends.hpp"\n')
        self.assert_offence("src/mobile/object/step.cpp:3: room", "object must not use life")


class headers_alone(planted_tree):
    def compile_all(self):
        compiler = os.environ.get("CXX", "c++")
        return self.run_tidy("--headers", "--compiler", compiler, "--cache", str(self.root / "cache.json"))

    def test_a_header_that_leans_on_its_includer(self):
        self.write("src/wire/lean.hpp", HEADER + "inline int lean = stone;\n")
        offences, _ = self.compile_all()
        self.assertEqual(len(offences), 1, offences)
        self.assertIn("src/wire/lean.hpp:1: alone: does not compile alone: include what it uses", offences[0])
        self.assertEqual(self.compile_all()[0], offences, "a failure is not cached")

    def test_a_header_that_another_includes_first_is_compiled_there(self):
        self.write("src/wire/lean.hpp", HEADER + "inline int lean = stone;\n")
        self.write("src/wire/tall.hpp", HEADER + '#include <vector>\n#include "wire/lean.hpp"\n')
        offences, _ = self.compile_all()
        self.assertEqual([offence.split(":")[0] for offence in offences], ["src/wire/tall.hpp"], offences)
        self.write("src/wire/tall.hpp", HEADER + '#include "base/stone.hpp"\n#include "wire/lean.hpp"\n')
        offences, _ = self.compile_all()
        self.assertEqual([offence.split(":")[0] for offence in offences], ["src/wire/lean.hpp"], offences)

    def test_what_did_not_change_is_not_compiled_again(self):
        compiled = lambda: next(line for line in self.compile_all()[1] if "compiled now" in line)
        self.assertIn("1 headers that no other file includes first, 0 fuzzers, 1 compiled now", compiled())
        self.assertIn(", 0 compiled now", compiled())
        self.append("include/nacre/pages/page.hpp", "struct other {};\n")
        self.assertIn(", 1 compiled now", compiled())

    def test_a_fuzzer_is_compiled_too(self):
        self.write("src/wire/page_libfuzzer.cpp", HEADER.replace("#pragma once\n", "") + "int pages = missing;\n")
        offences, printed = self.compile_all()
        self.assertEqual([offence.split(":")[0] for offence in offences], ["src/wire/page_libfuzzer.cpp"], offences)
        self.assertTrue(any("1 fuzzers" in line for line in printed), printed)


if __name__ == "__main__":
    unittest.main()
