#include "collector/statistics.hpp"

#include <exception>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/numbers.hpp"

namespace isotherm::collector {

namespace {

using seen = window_statistics;

/// Parses the value of a statistic. A real one may be infinite, as a mean of no events is.
template <class Number>
std::optional<Number> parse_value(std::string_view text) noexcept {
  if constexpr (std::is_floating_point_v<Number>) {
    constexpr Number kInfinity = std::numeric_limits<Number>::infinity();
    return base::parse_number<Number>(text, -kInfinity, kInfinity);
  } else {
    return base::parse_number<Number>(text);
  }
}

/// Describes the member at the end of `Path`.
template <auto... Path>
constexpr statistic row(std::string_view name, std::string_view unit, std::string_view help,
                        std::optional<unsigned> info_decimals = std::nullopt,
                        bool is_summed = false) {
  return {{{name, unit, help},
           [](const seen& from) -> std::variant<std::uint64_t, double> {
             const auto value = (from.*....*Path);
             if constexpr (std::is_floating_point_v<decltype(value)>) {
               return double{value};
             } else {
               return std::uint64_t{value};
             }
           }},
          info_decimals,
          is_summed,
          [](seen& into, std::string_view text) {
            auto& value = (into.*....*Path);
            const auto parsed = parse_value<std::remove_reference_t<decltype(value)>>(text);
            value = parsed.value_or(value);
            return parsed.has_value();
          }};
}

template <auto... Path>
constexpr statistic summed(std::string_view name, std::string_view unit, std::string_view help,
                           std::optional<unsigned> info_decimals = std::nullopt) {
  return row<Path...>(name, unit, help, info_decimals, true);
}

constexpr statistic kTable[] = {
    row<&seen::window>("window", "", "number of the window, from 1", 0),
    row<&seen::window_seconds>("window_seconds", "seconds", "time since the last window ended", 3),
    summed<&seen::scanned_guides>("scanned_guides", "guides", "guides that the scan looked at"),
    summed<&seen::accessed_objects>("accessed_objects", "objects", "objects used in the window", 0),
    summed<&seen::accessed_cold_objects>("accessed_cold_objects", "objects",
                                         "of these, objects in COLD: misses", 0),
    summed<&seen::accessed_bytes>("accessed_bytes", "bytes", "bytes of the objects used", 0),
    summed<&seen::accessed_pages>("accessed_pages", "pages", "pages that hold an object used"),
    summed<&seen::accessed_cold_pages>("accessed_cold_pages", "pages", "of these, pages of COLD"),
    summed<&seen::read_past_bytes>("read_past_bytes", "bytes",
                                   "of accessed_bytes, those read past their pages"),
    summed<&seen::read_past_pages>("read_past_pages", "pages",
                                   "of accessed_pages, those read past, which stayed out of DRAM"),
    row<&seen::page_utilization>("page_utilization", "",
                                 "accessed bytes over the bytes of accessed pages, 0 to 1; "
                                 "without what was read past",
                                 4),
    row<&seen::working_set_pages>("working_set_pages", "pages", "pages of the working set"),
    row<&seen::promotion_rate>("promotion_rate", "",
                               "share of the working set that came from COLD, a minute", 5),
    row<&seen::cold_threshold>("cold_threshold", "windows",
                               "windows without use after which an object is cold, from now on", 0),
    row<&seen::kept_rate>("kept_rate", "",
                          "uses a window and page of DRAM from which an object is kept there", 5),
    row<&seen::rate_windows>("rate_windows", "windows", "that the rates of use are the mean of"),
    row<&seen::resident_bytes>("resident_bytes", "bytes", "resident set when the window ended", 0),
    row<&seen::memory_target_bytes>("memory_target_bytes", "bytes",
                                    "what it is to be held to; 0: nothing", 0),
    summed<&seen::promoted, &moves::objects>("promoted_objects", "objects", "moved to HOT", 0),
    summed<&seen::promoted, &moves::bytes>("promoted_bytes", "bytes", "bytes moved to HOT"),
    summed<&seen::demoted, &moves::objects>("demoted_objects", "objects", "moved to COLD", 0),
    summed<&seen::demoted, &moves::bytes>("demoted_bytes", "bytes", "bytes moved to COLD"),
    summed<&seen::compacted, &moves::objects>("compacted_objects", "objects",
                                              "moved within a heap, to where it is dense"),
    summed<&seen::vetoed>("vetoed", "moves", "given up because a thread used the object"),
    summed<&seen::failed>("failed", "moves", "given up for want of room, or of a readable object"),
    summed<&seen::held_back>("held_back", "moves",
                             "moves to COLD put off: its device may not be written to now, or the "
                             "object would return too soon"),
    summed<&seen::abandoned_epochs>("abandoned_epochs", "epochs",
                                    "waits for scopes that outlasted their bound"),
    summed<&seen::hinted_bytes>("hinted_bytes", "bytes", "bytes of COLD asked to leave DRAM", 0),
    summed<&seen::scan_seconds>("scan_seconds", "seconds", "time of the scan"),
    summed<&seen::move_seconds>("move_seconds", "seconds", "time of the moves"),
    summed<&seen::page_out_seconds>(
        "page_out_seconds", "seconds",
        "time for giving memory back to the system and for paging COLD out"),
    summed<&seen::collector_cpu_seconds>("collector_cpu_seconds", "seconds",
                                         "processor time of the collector", 6),
};

}  // namespace

std::span<const statistic> statistic_table() noexcept { return kTable; }

window_statistics with_totals(window_statistics seen, const window_statistics& before) {
  seen.totals = before.totals;
  seen.totals.resize(std::size(kTable));
  for (std::size_t i = 0; i < std::size(kTable); ++i) {
    if (!kTable[i].is_summed) continue;
    seen.totals[i] +=
        std::visit([](auto v) { return static_cast<double>(v); }, kTable[i].get(seen));
  }
  return seen;
}

std::string problem_of(const std::function<void(const window_statistics&)>& callback,
                       const window_statistics& seen) try {
  callback(seen);
  return {};
} catch (const std::exception& thrown) {
  return std::string("the callback at the window's end threw: ") + thrown.what();
} catch (...) {
  return "the callback at the window's end threw what is no std::exception";
}

}  // namespace isotherm::collector
