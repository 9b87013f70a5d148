// The process's runtime: the heaps' configuration, the collector and its statistics.
#pragma once

#include "collector/collector.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"
#include "heap/node.hpp"
#include "heap/usage.hpp"
