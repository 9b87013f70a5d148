// Movable objects: guide<T> is the owning pointer that lives in a node of a data structure, and
// that lets the collector move the object it owns (OBASE 3.2).
//
//   isotherm::guide<record> g = isotherm::make_guide<record>(1, 2);
//   { isotherm::scope inside; use(g.get(inside)); }   // the address is good until here
//   isotherm::scope inside;
//   if (!g.replace(inside, isotherm::make_object<record>(g, 3, 4))) return out_of_memory();
#pragma once

#include "guide/guide.hpp"
#include "guide/in_place.hpp"
