// SPDX-License-Identifier: Apache-2.0
// The note by which a file with a copy of the runtime is known. Included once in a library or program.
#pragma once

// Length of the name, length of the content, type, name, content, each at a multiple of 4 bytes: elf(5), "Notes".
asm(".pushsection .note.nacre, \"a\", %note\n"
    ".balign 4\n"
    ".long 6, 4, 1\n"
    ".asciz \"Nacre\"\n"
    ".balign 4\n"
    ".long 1\n"
    ".popsection\n");
