// The process's runtime: the heaps' configuration, the collector and its statistics.
#pragma once

#include "collector/collector.hpp"
#include "heap/heap.hpp"
