// Sorting a file, and working on its keys alone: writes a small file of measurements, sorts it into
// another, then asks an index map for the three smallest records and for the number of records of
// each sensor. Values are read only of the records that are printed.
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <isotherm/index_map.hpp>
#include <isotherm/sort.hpp>
#include <string>

namespace {

constexpr int kRecords = 20'000;
constexpr int kSensors = 13;

/// A record: sensor (4 digits, the key), then a measurement of 60 bytes.
void write_measurements(const std::filesystem::path& path) {
  std::ofstream out(path);
  for (int i = 0; i < kRecords; ++i) {
    out << fmt::format("{:04}{:<59}\n", i * 7 % kSensors, fmt::format(" measurement {}", i));
  }
}

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void give_up(const isotherm::base::error& error) {
  fmt::print(stderr, "sort_and_count: {}\n", error.message);
  std::exit(1);
}

}  // namespace

int main() {
  const auto directory = std::filesystem::temp_directory_path();
  const auto input = directory / "isotherm_example_in";
  const auto output = directory / "isotherm_example_out";
  write_measurements(input);
  const isotherm::sort_options options{
      .record_bytes = 64, .key_bytes = 4, .memory_bytes = 64 << 20, .check = true};

  const auto report = isotherm::sort_file(input, output, options);
  if (!report) give_up(report.error());
  fmt::print("{} records sorted by {}\n", report->records_written, report->algorithm);

  auto map = isotherm::index_map::build(input, options);
  if (!map) give_up(map.error());
  if (const auto sorted = map->sort(); !sorted) give_up(sorted.error());
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto record = map->record(i);
    if (!record) give_up(record.error());
    fmt::print("{}", text(*record));
  }
  std::uint64_t records = 0;
  const auto counted = map->for_each_group([&](isotherm::index_map::group g) {
    records += g.count;
    if (const auto key = map->key(g.first)) fmt::print("{}: {} records\n", text(*key), g.count);
    return true;
  });
  if (!counted) give_up(counted.error());
  fmt::print("{} bytes of {} were read beside the keys\n", map->bytes_materialised(),
             kRecords * 64);

  std::filesystem::remove(input);
  std::filesystem::remove(output);
  return records == kRecords ? 0 : 1;
}
