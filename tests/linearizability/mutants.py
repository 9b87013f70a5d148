#!/usr/bin/env python3
"""Structures whose own synchronisation lacks one step, which the checker of histories must see.

    mutants.py NAME SOURCES FOLDER      writes the file with its step left out, and mutant.hpp

FOLDER goes before SOURCES on the compiler's path. It has nothing else: a file that an earlier
SOURCES had there would be found in the place of one that has moved.
"""

import pathlib
import shutil
import sys

# name: the structure's class, its sources, file that is changed, what stands there, what instead
MUTANTS = {
    # A key that was absent is inserted without another look under the lock.
    'hash-pugh-link': (
        'hash_pugh', ['index/hash/hash_pugh.cpp'], 'index/hash/chained_hash.hpp',
        'if (search_chain(inside, held.first(), at.hash, key)) return false;',
        'if (false && search_chain(inside, held.first(), at.hash, key)) {}'),
    # A value is replaced in a node that is not in its bin any more.
    'hash-chm-upsert': (
        'hash_chm', ['index/hash/hash_chm.cpp'], 'index/optimistic_writes.hpp',
        'if (!lock.try_take(inside, key)) continue;\n    return found->value',
        'lock.try_take(inside, key);\n    return found->value'),
    # A value is replaced in a node that has been erased.
    'skiplist-herlihy-upsert': (
        'skiplist_herlihy', ['index/skip/skiplist_herlihy.cpp'],
        'index/optimistic_writes.hpp',
        'if (!lock.try_take(inside, key)) continue;\n    return found->value',
        'lock.try_take(inside, key);\n    return found->value'),
    # A search believes what it read in a leaf, although the leaf has changed meanwhile.
    'btree-occ-still': (
        'btree_occ', ['index/btree/tree.cpp', 'index/btree/btree_occ.cpp'],
        'index/btree/search.hpp',
        'return p.at->latch.is_still(p.version);\n}\n\ntemplate <class Storage, class Latch>\n'
        'auto tree<Storage, Latch>::locate',
        'return true;\n}\n\ntemplate <class Storage, class Latch>\n'
        'auto tree<Storage, Latch>::locate'),
    # An entry is added although others were since the search.
    'masstree-order': (
        'masstree', ['index/masstree/masstree.cpp'], 'index/masstree/operations.hpp',
        'if (at.at->order() == at.order &&\n      (at.target == 0',
        'if ((at.target == 0'),
    # A search goes on below a node that has led elsewhere since, or is no longer in the tree.
    'art-coupling': (
        'art', ['index/art/art.cpp'], 'index/art/search.hpp',
        'if (version_lock::is_obsolete(at.version)) return false;\n'
        '    // Coupling: the parent still led to the child when the child\'s version was read.\n'
        '    if (!n->version.is_still(at.parent_version)) return false;',
        ''),
}


def main():
    name, sources, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    class_name, used, changed, step, instead = MUTANTS[name]
    text = (sources / changed).read_text()
    if text.count(step) != 1:
        sys.exit(f'mutants.py: {name}: the step to leave out stands {text.count(step)} times in '
                 f'{changed}, not once: follow the change of that file here')
    shutil.rmtree(folder, ignore_errors=True)
    (folder / changed).parent.mkdir(parents=True)
    (folder / changed).write_text(text.replace(step, instead))
    includes = ''.join(f'#include "{source}"\n' for source in used)
    (folder / 'mutant.hpp').write_text(
        f'#pragma once\n{includes}namespace isotherm::index {{\n'
        f'template <class Storage>\nusing mutant = {class_name}<Storage>;\n}}\n')


if __name__ == '__main__':
    main()
