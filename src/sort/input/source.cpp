#include "sort/input/source.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "os/files/file.hpp"
#include "os/files/mapping.hpp"
#include "os/files/spool.hpp"
#include "sort/input/header.hpp"
#include "sort/input/input_copy.hpp"
#include "sort/packed/input_reader.hpp"

namespace isotherm::sort {
namespace {

/// Whether `f`, which lies still, begins as a compressed file does.
base::result<bool> is_packed(const os::file& f) {
  std::array<std::byte, kMagicBytes> first{};
  const auto n = f.read_some(first, 0);
  if (!n) return std::unexpected(n.error());
  return packing_of(std::span(first).first(*n)) != sort_packing::none;
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
                                          const std::string& directory, std::uint64_t room) {
  std::vector<os::input_file> inputs;
  for (const std::string& path : paths) {
    auto input = os::open_input(path);
    if (!input) return std::unexpected(input.error());
    if (input->still && j.options.unpack) {
      const auto packed = is_packed(input->handle);
      if (!packed) return std::unexpected(packed.error());
      input->still = !*packed;
    }
    inputs.push_back(std::move(*input));
  }
  if (inputs.size() == 1 && inputs.front().still) return of(std::move(inputs.front().handle));
  const stage_timer timer(j, sort_stage::copy);
  input_copy copy(j.options, directory, room, inputs.size());
  if (auto r = copy.begin(); !r) return std::unexpected(r.error());
  for (const os::input_file& input : inputs) {
    input_reader in(input.handle, j.options.stop);
    if (auto r = j.options.unpack ? in.look() : base::result<void>{}; !r) {
      return std::unexpected(r.error());
    }
    const auto end = &input == &inputs.back() ? last_record::as_it_is : last_record::ended;
    if (auto r = copy.append(in, input.handle.path(), end); !r) return std::unexpected(r.error());
  }
  j.count(sort_stage::copy, copy.bytes(), copy.bytes());
  const bool in_memory = copy.in_memory();
  const auto header = copy.header_bytes();
  auto s = of(std::move(copy).file());
  if (!s) return s;
  s->in_memory_ = in_memory;
  s->header_bytes_ = header;
  return s;
}

base::result<std::uint64_t> source::header_bytes(const sort_options& o) const {
  if (header_bytes_) return *header_bytes_;
  return find_header(file_, size(), o);
}

base::result<void> source::leave_memory(const std::string& directory) {
  auto moved = file_copy(file_, directory);
  if (!moved) return std::unexpected(moved.error());
  auto s = of(std::move(*moved));
  if (!s) return std::unexpected(s.error());
  s->header_bytes_ = header_bytes_;
  *this = std::move(*s);
  return {};
}

source source::over(std::span<const std::byte> bytes) {
  source s;
  s.state_.bytes = bytes.size();
  s.header_bytes_ = 0;
  s.whole_ = bytes.data();
  return s;
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
  whole_ = mapping_.data();
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
  static constexpr std::byte kNothing{};  // null would be an error
  if (n == 0) return &kNothing;
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
