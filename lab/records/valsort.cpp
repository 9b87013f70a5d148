#include "lab/records/valsort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "os/files/file.hpp"
#include "os/files/spool.hpp"
#include "os/thread_pool.hpp"

namespace isotherm::lab {
namespace {

unsigned char folded(unsigned char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<unsigned char>(c | 0x20) : c;
}

int compare(const unsigned char* a, const unsigned char* b, bool ignore_case) {
  if (!ignore_case) return std::memcmp(a, b, kGensortKey);
  for (std::size_t i = 0; i < kGensortKey; ++i) {
    if (const int d = folded(a[i]) - folded(b[i]); d != 0) return d;
  }
  return 0;
}

void add_record(valsort_summary& s, const unsigned char* record, bool ignore_case) {
  if (s.records == 0) {
    std::memcpy(s.first_key.data(), record, kGensortKey);
  } else {
    const int order = compare(s.last_key.data(), record, ignore_case);
    if (order > 0 && s.unordered++ == 0) s.first_unordered = s.records;
    if (order == 0) ++s.duplicates;
  }
  std::memcpy(s.last_key.data(), record, kGensortKey);
  ++s.records;
}

base::result<valsort_summary> check_part(const os::file& f, std::uint64_t begin, std::uint64_t end,
                                         bool ignore_case, tool::progress_sum& done) {
  valsort_summary s;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kBatchRecords, end - begin) *
                                kGensortRecord);
  for (std::uint64_t at = begin; at < end;) {
    const auto records = static_cast<std::size_t>(std::min<std::uint64_t>(kBatchRecords, end - at));
    const std::span<std::byte> bytes(buffer.data(), records * kGensortRecord);
    if (auto r = f.read(bytes, at * kGensortRecord); !r) return std::unexpected(r.error());
    s.checksum += sort::record_checksum(bytes, kGensortRecord);
    for (std::size_t i = 0; i < records; ++i) {
      add_record(s, reinterpret_cast<const unsigned char*>(&bytes[i * kGensortRecord]),
                 ignore_case);
    }
    at += records;
    done.add(records);
  }
  return s;
}

std::string hex_key(const std::array<unsigned char, kGensortKey>& key) {
  std::string text;
  for (const unsigned char c : key) text += fmt::format("{:02x}", c);
  return text;
}

bool read_key(const std::string& text, std::array<unsigned char, kGensortKey>& key) {
  if (text.size() != 2 * kGensortKey) return false;
  for (std::size_t i = 0; i < kGensortKey; ++i) {
    auto byte = parse_checksum(text.substr(2 * i, 2));
    if (!byte) return false;
    key[i] = static_cast<unsigned char>(*byte);
  }
  return true;
}

constexpr const char* kSummaryWord = "valsort-summary-1";

}  // namespace

valsort_summary combine(const valsort_summary& a, const valsort_summary& b,
                        const valsort_options& options) {
  if (a.records == 0) return b;
  if (b.records == 0) return a;
  valsort_summary s = a;
  const int order = compare(a.last_key.data(), b.first_key.data(), options.ignore_case);
  if (order > 0 && s.unordered++ == 0) s.first_unordered = a.records;
  if (order == 0) ++s.duplicates;
  if (s.unordered == 0 && b.unordered > 0) s.first_unordered = a.records + b.first_unordered;
  s.unordered += b.unordered;
  s.duplicates += b.duplicates;
  s.checksum += b.checksum;
  s.records += b.records;
  s.last_key = b.last_key;
  return s;
}

base::result<valsort_summary> valsort_file(const std::string& path,
                                           const valsort_options& options) {
  auto input = os::open_input(path);
  if (!input) return std::unexpected(input.error());
  base::result<os::file> f = std::move(input->handle);
  if (!input->still) f = os::spool(*f, os::usual_directory(), {});
  if (!f) return std::unexpected(f.error());
  auto size = f->size();
  if (!size) return std::unexpected(size.error());
  if (*size == 0) return std::unexpected(base::error{path + " is empty: no records to check", 0});
  if (*size % kGensortRecord != 0) {
    return std::unexpected(base::error{
        fmt::format("{} ends in a partial record: its size, {} bytes, is no multiple of {}", path,
                    *size, kGensortRecord),
        0});
  }
  const unsigned threads = threads_for(*size / kGensortRecord, options.threads);
  std::vector<base::result<valsort_summary>> parts(threads);
  tool::progress_sum done(options.progress, *size / kGensortRecord);
  os::run_pool(threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(*size / kGensortRecord, threads, t);
    parts[t] = check_part(*f, begin, end, options.ignore_case, done);
  });
  valsort_summary total;
  for (const auto& part : parts) {
    if (!part) return std::unexpected(part.error());
    total = combine(total, *part, options);
  }
  return total;
}

std::string summary_text(const valsort_summary& s) {
  return fmt::format("{} {} {} {} {} {} {} {}\n", kSummaryWord, s.records, s.unordered,
                     s.first_unordered, s.duplicates, checksum_text(s.checksum),
                     hex_key(s.first_key), hex_key(s.last_key));
}

base::result<std::vector<valsort_summary>> parse_summaries(const std::string& text) {
  std::vector<valsort_summary> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string head, sum, first, last;
    valsort_summary s;
    words >> head >> s.records >> s.unordered >> s.first_unordered >> s.duplicates >> sum >>
        first >> last;
    auto checksum = parse_checksum(sum);
    if (!words || head != kSummaryWord || !checksum || !read_key(first, s.first_key) ||
        !read_key(last, s.last_key)) {
      return std::unexpected(base::error{
          fmt::format("line {} is no summary that valsort -o wrote", all.size() + 1), 0});
    }
    s.checksum = *checksum;
    all.push_back(s);
  }
  if (all.empty()) return std::unexpected(base::error{"the file holds no summaries", 0});
  return all;
}

}  // namespace isotherm::lab
