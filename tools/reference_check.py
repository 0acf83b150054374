#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reference_check.py XML: names the public declarations that the API reference (Doxygen's XML) has no words for.

A name is documented when one of its overloads in the same class is, or in a base class. What says all by its name needs
no words: data members, functions without parameters, comparisons, serialize, constructors.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

SELF_EVIDENT = re.compile(r"^(operator(==|<=>|=|\(\)|\*|->|bool| bool)?|serialize|save|load|begin|end|empty|size|value_type|~.*)$")


def has_words(node):
    return any("".join(node.find(tag).itertext()).strip() for tag in ("briefdescription", "detaileddescription")
               if node.find(tag) is not None)


def needs_words(member):
    kind = member.get("kind")
    return kind == "enum" or kind == "function" and member.find("param") is not None


class Compound:
    """A class, struct, concept, namespace or file, and its members by name."""

    def __init__(self, node):
        self.kind = node.get("kind")
        self.name = node.findtext("compoundname")
        self.where = node.find("location")
        self.words = has_words(node)
        self.hidden = node.get("prot") in ("private", "protected")
        self.bases = [each.get("refid") for each in node.findall("basecompoundref")]
        self.documented, self.members = set(), {}
        for member in node.iter("memberdef"):
            name = member.findtext("name")
            if has_words(member):
                self.documented.add(name)
            elif member.get("prot") == "public" and needs_words(member):
                self.members.setdefault(name, member.find("location"))


def main():
    compounds = {}
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xml")):
        for node in xml.parse(path).getroot().findall("compounddef"):
            compounds[node.get("id")] = Compound(node)
    if not compounds:
        sys.exit(f"reference_check: no XML of Doxygen in {sys.argv[1]}")

    def documented(of):
        names = set(of.documented)
        for base in of.bases:
            if base in compounds:
                names |= documented(compounds[base])
        return names

    missing, total = [], 0
    for of in compounds.values():
        if of.kind not in ("class", "struct", "namespace", "union", "concept"):
            continue
        if of.hidden or of.name.startswith("std::") or "::detail" in of.name:
            continue
        short = re.sub(r"<.*", "", of.name).split("::")[-1]
        total += 1 + len(of.members) + len(of.documented)
        if of.kind != "namespace" and not of.words:
            missing.append((of.where, of.name))
        known = documented(of)
        for name, where in of.members.items():
            if name in known or name == short or SELF_EVIDENT.match(name):
                continue
            missing.append((where, f"{of.name}::{name}"))
    for where, name in sorted(missing, key=lambda each: (each[0].get("file"), int(each[0].get("line")))):
        print(f"{where.get('file')}:{where.get('line')}: {name} has no words in the reference: say what its signature cannot")
    print(f"reference: {total} names, {len(missing)} without words")
    sys.exit(1 if missing else 0)


main()
