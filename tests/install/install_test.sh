#!/usr/bin/env bash
# install_test.sh CMAKE SOURCE_DIR BUILD_DIR COMPILER
# Installs into a temporary directory, takes examples/ away from the tree, builds it twice (CMake's
# find_package, pkg-config), and runs the programs.
set -euo pipefail
cmake=$1 source=$2 build=$3 compiler=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log" ||
  { cat "$work/install.log"; exit 1; }
# Moved after the installation: nothing may remember the prefix.
mv "$prefix" "$work/moved"
prefix=$work/moved
cp -r "$source/examples" "$work/examples"

if grep -rlF "$source" "$prefix" --include='*.cmake' --include='*.pc' --include='*.hpp'; then
  echo "install_test: the files above name the source tree" >&2
  exit 1
fi

echo "== find_package"
"$cmake" -S "$work/examples" -B "$work/by_cmake" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release
# One of the programs in foreign/, which the tree builds and runs, where it can be built.
programs=(first movable_map sort_and_count live_page)
[ ! -d "$work/by_cmake/foreign/CMakeFiles/interval_tree.dir" ] || programs+=(interval_tree)
"$cmake" --build "$work/by_cmake" --target "${programs[@]}"
"$work/by_cmake/movable_map"
"$work/by_cmake/sort_and_count"
"$work/by_cmake/first"
"$work/by_cmake/live_page"

echo "== marked pointers"
mkdir "$work/marked"
cp "$source/tests/compiler/hash_map.hpp" "$work/marked"
cat >"$work/marked/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(marked LANGUAGES CXX)
find_package(isotherm REQUIRED)
add_executable(marked marked.cpp)
isotherm_instrument(marked REPORT ${CMAKE_BINARY_DIR}/reports)
END
cat >"$work/marked/marked.cpp" <<'END'
#include "hash_map.hpp"
int main() {
  hash_map map(7);
  for (int key = 1; key <= 100; ++key) map.put(key, 3 * key);
  return map.get(50) == 150 && map.sum() == 15150 ? 0 : 1;
}
END
for generator in Ninja "Unix Makefiles"; do
  build_in="$work/marked/$generator"
  "$cmake" -S "$work/marked" -B "$build_in" -G "$generator" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release
  "$cmake" --build "$build_in"
  "$build_in/marked"
  plugin=$(find "$prefix" -name isotherm-clang.so)
  [ -n "$plugin" ] || continue
  grep -q "^scope.hash_map::get" "$build_in/reports/marked/marked_cpp.txt"
  before=$(stat -c %y "$build_in/marked")
  touch "$plugin"  # what was compiled with it is compiled anew
  "$cmake" --build "$build_in"
  [ "$before" != "$(stat -c %y "$build_in/marked")" ]
done

if gcc=$(command -v g++-12); then
  echo "== marked pointers, by a compiler that cannot load the plugin"
  "$cmake" -S "$work/marked" -B "$work/marked/plain" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_COMPILER="$gcc" -DCMAKE_BUILD_TYPE=Debug 2>&1 | tee "$work/plain.log"
  grep -q "^isotherm_instrument(marked): marked pointers stay plain, since " "$work/plain.log"
  "$cmake" --build "$work/marked/plain"
  "$work/marked/plain/marked"
fi

echo "== pkg-config"
pc=$(dirname "$(find "$prefix" -name isotherm.pc)")
read -ra flags <<<"$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs isotherm)"
# Linked, and not run once more: it waits for windows of the collector.
"$compiler" -std=c++23 -o "$work/by_pkg_config" "$work/examples/movable_map.cpp" "${flags[@]}"

echo "== a user's tests: without exceptions, and with sanitizers against the installed library"
cat >"$work/user.cpp" <<'END'
#include <isotherm/fetch.hpp>
#include <isotherm/guide.hpp>
#include <isotherm/runtime.hpp>
#include <isotherm/scope.hpp>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
// Owns ordinary memory, which nothing but an object that is held by a guide leads to.
struct owner {
  char* text = static_cast<char*>(std::malloc(100));
  ~owner() { std::free(text); }
};
template <>
struct isotherm::is_trivially_relocatable<owner> : std::true_type {};
struct may_throw {
  int value;
  explicit may_throw(int from) noexcept(false) : value(from) {}
};
template <>
struct isotherm::is_trivially_relocatable<may_throw> : std::true_type {};
int main() {
  isotherm::collector::object_collector collecting({.window_seconds = 0.01});
  if (!collecting.start()) return 1;
  static isotherm::guide<owner> lasting = isotherm::make_guide<owner>();
  std::vector<isotherm::guide<may_throw>> all;
  for (int i = 0; i < 10000; ++i) all.push_back(isotherm::make_guide<may_throw>(i));
  long sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&all, &sum, t] {
      long mine = 0;
      for (int round = 0; round < 20; ++round) {
        for (const auto& each : all) {
          const isotherm::scope inside;
          mine += each.get(inside)->value;
        }
      }
      if (t == 0) sum = mine;
    });
  }
  for (auto& each : threads) each.join();
  collecting.stop();
  const isotherm::scope inside;
  std::strcpy(lasting.get(inside)->text, "kept");
  return sum == 20L * 9999 * 5000 ? 0 : 2;
}
END
"$compiler" -std=c++23 -fno-exceptions -o "$work/user" "$work/user.cpp" "${flags[@]}"
"$work/user"
# The installed library is built without ThreadSanitizer, which therefore reports its atomic steps
# as races. The suppression covers reports with a frame of the library, as docs/library.md tells
# users to do; races within the program itself are reported. The library's own races are what
# `make test-tsan` looks for, in a build with the sanitizer and without this line.
echo "race:isotherm::" >"$work/races"
export TSAN_OPTIONS="suppressions=$work/races"
for sanitizer in address,undefined thread; do
  "$compiler" -std=c++23 -g -fsanitize=$sanitizer -o "$work/user" "$work/user.cpp" "${flags[@]}"
  "$work/user"
done

echo "== a user's own folders that are named like ours"
for own in base/check.hpp heap/kind.hpp guide/guide.hpp sync/scope.hpp; do
  mkdir -p "$work/own/$(dirname $own)"
  echo "inline int own_$(basename $own .hpp)() { return 1; }" >"$work/own/$own"
done
cat >"$work/own/main.cpp" <<'END'
#include "base/check.hpp"
#include "heap/kind.hpp"
#include "guide/guide.hpp"
#include "sync/scope.hpp"
#include <isotherm/guide.hpp>
#include <isotherm/runtime.hpp>
#include <isotherm/scope.hpp>
int main() {
  const auto held = isotherm::make_guide<int>(0);
  const isotherm::scope inside;
  return *held.get(inside) + own_check() + own_kind() + own_guide() + own_scope() - 4;
}
END
"$compiler" -std=c++23 -I"$work/own" -o "$work/own/main" "$work/own/main.cpp" "${flags[@]}"
"$compiler" -std=c++23 -o "$work/own/main" "$work/own/main.cpp" "${flags[@]}" -I"$work/own"
"$work/own/main"

echo "== a shared library that a program opens, with room for it in static TLS"
cat >"$work/plugin.cpp" <<'END'
#include <isotherm/guide.hpp>
#include <isotherm/scope.hpp>
extern "C" int value() {
  const auto held = isotherm::make_guide<int>(0);
  const isotherm::scope inside;
  return *held.get(inside);
}
END
cat >"$work/host.cpp" <<'END'
#include <dlfcn.h>
#include <cstdio>
int main(int, char** arguments) {
  void* const library = dlopen(arguments[1], RTLD_NOW);
  if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  return reinterpret_cast<int (*)()>(dlsym(library, "value"))();
}
END
"$compiler" -std=c++23 -shared -fPIC -o "$work/plugin.so" "$work/plugin.cpp" "${flags[@]}"
"$compiler" -std=c++23 -o "$work/host" "$work/host.cpp"
GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 "$work/host" "$work/plugin.so"
read -ra flags <<<"$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs isotherm-sorting)"
"$compiler" -std=c++23 -o "$work/sort_by_pkg_config" "$work/examples/sort_and_count.cpp" \
  "${flags[@]}"
"$work/sort_by_pkg_config"

read -ra flags <<<"$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs isotherm-live)"
"$compiler" -std=c++23 -o "$work/live_by_pkg_config" "$work/examples/live_page.cpp" \
  "${flags[@]}"
"$work/live_by_pkg_config"

if [ -x "$build/bin/isotherm" ]; then
  echo "== tool"
  "$prefix/bin/isotherm" --help >/dev/null
fi
