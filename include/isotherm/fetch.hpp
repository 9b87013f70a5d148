// Objects that have left DRAM, without waiting for them: guide<T>::try_get() tells what is missing,
// and a fetcher reads it and calls back, or resumes a coroutine.
#pragma once

#include "guide/fetcher.hpp"
#include "guide/guide.hpp"
#include "heap/cold/reader.hpp"
#include "heap/cold/statistics.hpp"
