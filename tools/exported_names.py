# SPDX-License-Identifier: Apache-2.0
"""exported_names.py [--check | --library FILE [OBJECT...]]: lists what libnacre.so exports, in src/exported_names.txt: the classes and functions that
the public headers declare and the library defines. --check tells whether the list is that of the headers; --library whether a shared
library exports nothing beside the list, and all that objects of programs, which see the public headers alone, ask for."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cpp_text  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "src" / "exported_names.txt"
HEAD = """# SPDX-License-Identifier: Apache-2.0
# What libnacre.so exports: classes with their members (A::B), and functions (A::f()). Written by tools/exported_names.py.
"""
# Templates over private parts, whose members a program compiles itself.
NOT_FUNCTIONS = {"if", "for", "while", "switch", "return", "sizeof", "alignof", "decltype", "static_assert", "requires", "noexcept", "asm"}


def without_templates(header):
    """The text of a declaration without attributes and the contents of <...>."""
    header = re.sub(r"\[\[[^\]]*\]\]", " ", header)
    while (shorter := re.sub(r"<[^<>]*>", "", header)) != header:
        header = shorter
    return re.sub(r"\balignas\s*\([^()]*\)", " ", header).strip()


def names_of(text):
    """The names that one header declares: classes that it defines, which are no templates, and functions that it does not define."""
    text = re.sub(cpp_text.COMMENT_OR_LITERAL, cpp_text.blank, text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", cpp_text.blank, text, flags=re.M)
    scopes = []  # of each open brace the namespace that it opens, or None
    header, defaults = "", 0  # defaults: braces of default arguments that are open
    for piece in re.split(r"([{};])", text):
        if piece in "{}" and piece and (defaults or header.count("(") > header.count(")")) and (piece == "{" or defaults):
            defaults += 1 if piece == "{" else -1
        elif piece == "{":
            plain = without_templates(header)
            outside = all(scope is not None for scope in scopes)
            space = re.fullmatch(r"(?:inline )?namespace ([\w:]+)", plain)
            thing = re.match(r"(?:class|struct)\s+(\w+)", plain)
            if outside and thing and "(" not in plain:
                yield "::".join([*scopes, thing[1]])
            scopes.append(space[1] if space and outside else None)
            header = ""
        elif piece == "}":
            if scopes:
                scopes.pop()
            header = ""
        elif piece == ";":
            plain = without_templates(header)
            if scopes and all(scope is not None for scope in scopes):
                if function := function_of(plain):
                    yield "::".join([*scopes, function]) + "()"
            header = ""
        else:
            header += piece


def function_of(declaration):
    """The name of the function that text in front of a semicolon declares; None where it declares something else."""
    if re.match(r"(template|using|typedef|friend|static_assert|class|struct|union|enum|namespace|extern template)\b", declaration):
        return None
    if "=" in declaration.split("(")[0] or re.search(r"\b(constexpr|consteval|inline|static)\b", declaration.split("(")[0]):
        return None
    found = re.match(r"[^(]*[\s*&](\w+)\s*\(", declaration)
    return found[1] if found and found[1] not in NOT_FUNCTIONS else None


def listed():
    return [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]


def of_headers():
    found = set()
    for header in sorted((ROOT / "include").rglob("*.hpp")):
        found.update(names_of(header.read_text()))
    return sorted(found)


def patterns(name):
    """The mangled names, as regular expressions, that a line of the list stands for. src/CMakeLists.txt has the same as globs."""
    function = name.endswith("()")
    mangled = "".join(f"{len(part)}{part}" for part in name.removesuffix("()").split("::"))
    return [f"_ZN{mangled}[EB].*"] if function else [f"_ZNK?{mangled}.*", f"_ZT[ISV]N{mangled}E", f"_ZGV?NK?{mangled}.*"]


def symbols(file, *options):
    output = subprocess.run(["nm", *options, file], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip() and not line.endswith(":")}


def readable(names):
    return subprocess.run(["c++filt"], input="\n".join(sorted(names)), check=True, capture_output=True, text=True).stdout.rstrip()


def check_library(file, objects):
    """The problems of a shared library, as lines."""
    known = re.compile("|".join(f"(?:{each})" for name in listed() for each in patterns(name)))
    exported = {name for name in symbols(file, "-D", "--defined-only") if not re.fullmatch(r"NACRE_[\d.]+", name)}
    if len(exported) < 100:
        yield f"{file} exports {len(exported)} symbols only"
    if leaked := {name for name in exported if not known.fullmatch(name)}:
        yield f"{file} exports what the list has not:\n{readable(leaked)}"
    wanted = set()
    for each in objects:
        wanted |= {name for name in symbols(each, "--undefined-only") if re.match(r"_Z(TV|TI|TS|NK?|GVN)*N?5nacre", name)}
    inner = {name for each in objects for name in symbols(each, "--defined-only")}
    if missing := wanted - exported - inner:
        yield f"{file} lacks what programs ask for:\n{readable(missing)}"


def main():
    if sys.argv[1:2] == ["--library"]:
        problems = list(check_library(sys.argv[2], sys.argv[3:]))
    elif sys.argv[1:] == ["--check"]:
        different = sorted(set(listed()) ^ set(of_headers()))
        problems = [f"src/exported_names.txt is not what the headers declare ({', '.join(different)}): run tools/exported_names.py"] if different else []
    elif not sys.argv[1:]:
        LIST.write_text(HEAD + "".join(f"{name}\n" for name in of_headers()))
        problems = []
    else:
        problems = [__doc__]
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
