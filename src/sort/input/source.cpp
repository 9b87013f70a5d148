#include "sort/input/source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "os/files/file.hpp"
#include "os/files/mapping.hpp"
#include "os/files/spool.hpp"

namespace isotherm::sort {
namespace {

/// Ends the last record of an input that was copied to [begin, end) of `copy`, so that the next
/// input begins with a record. Returns the new end.
base::result<std::uint64_t> end_record(const sort_options& o, const os::file& copy,
                                       std::uint64_t begin, std::uint64_t end) {
  if (o.format == record_format::fixed && o.record_bytes > 0 && end % o.record_bytes != 0) {
    return std::unexpected(base::error{
        fmt::format("an input has {} bytes, no multiple of the record of {}: it is cut, or "
                    "--record is wrong",
                    end - begin, o.record_bytes),
        0});
  }
  if (o.format != record_format::lines || end == begin) return end;
  std::byte last{};
  if (auto r = copy.read({&last, 1}, end - 1); !r) return std::unexpected(r.error());
  if (last == std::byte(o.line_end)) return end;
  last = std::byte(o.line_end);
  if (auto r = copy.write({&last, 1}, end); !r) return std::unexpected(r.error());
  return end + 1;
}

}  // namespace

base::result<source> source::open(const std::string& path) {
  auto f = os::file::open(path);
  if (!f) return std::unexpected(f.error());
  const auto still = os::holds_still(*f);
  if (!still) return std::unexpected(still.error());
  if (*still) return of(std::move(*f));
  return std::unexpected(
      base::error{path + " does not tell how much it holds: copy it to a file, and name that", 0});
}

base::result<source> source::open_or_copy(job& j, const std::vector<std::string>& paths,
                                          const std::string& directory) {
  std::vector<os::input_file> inputs;
  for (const std::string& path : paths) {
    auto input = os::open_input(path);
    if (!input) return std::unexpected(input.error());
    inputs.push_back(std::move(*input));
  }
  if (inputs.size() == 1 && inputs.front().still) return of(std::move(inputs.front().handle));
  const stage_timer timer(j, sort_stage::copy);
  auto copy = os::file::unnamed(directory);
  if (!copy) return std::unexpected(copy.error());
  std::uint64_t bytes = 0;
  for (const os::input_file& input : inputs) {
    const auto end = os::append(input.handle, *copy, bytes, j.options.stop);
    if (!end) return std::unexpected(end.error());
    const bool is_last = &input == &inputs.back();
    if (auto r = is_last ? end : end_record(j.options, *copy, bytes, *end); !r) {
      return std::unexpected(r.error());
    } else {
      bytes = *r;
    }
  }
  j.count(sort_stage::copy, bytes, bytes);
  return of(std::move(*copy));
}

base::result<source> source::of(os::file f) {
  source s;
  auto state = f.state();
  if (!state) return std::unexpected(state.error());
  s.file_ = std::move(f);
  s.state_ = *state;
  return s;
}

base::result<void> source::check_unchanged() const {
  auto now = file_.state();
  if (!now) return std::unexpected(now.error());
  if (*now == state_) return {};
  return std::unexpected(base::error{
      file_.path() +
          " changed while it was read: sort it when nobody writes to it, renames it or changes its "
          "permissions",
      0});
}

base::result<void> source::map() {
  if (size() == 0) return {};
  auto m = os::mapping::map(file_, size(), os::mapping_access::read_only);
  if (!m) return std::unexpected(m.error());
  mapping_ = std::move(*m);
  return {};
}

void source::note_length(std::uint64_t offset, std::uint64_t bytes) const {
  lengths_.insert_or_assign(offset, bytes);
}

std::uint64_t source::noted_length(std::uint64_t offset) const {
  const auto found = lengths_.find(offset);
  ISO_CHECK(found != lengths_.end(), "the loader notes the length of every long record");
  return found->second;
}

const std::byte* source_view::read(std::uint64_t offset, std::size_t n) {
  if (offset >= at_ && offset + n <= at_ + held_ && ahead_ > 0) {
    return &scratch_[offset - at_];
  }
  const std::size_t wanted = std::max<std::size_t>(
      n, std::min<std::uint64_t>(ahead_, source_.size() - std::min(offset, source_.size())));
  if (scratch_.size() < wanted) scratch_.resize(wanted);
  held_ = 0;
  if (!job_.keep(source_.handle().read({scratch_.data(), wanted}, offset))) return nullptr;
  at_ = offset;
  held_ = wanted;
  fetched_ += wanted;
  return scratch_.data();
}

}  // namespace isotherm::sort
