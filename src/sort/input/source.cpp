#include "sort/input/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "os/files/file.hpp"
#include "os/files/mapping.hpp"
#include "os/files/spool.hpp"
#include "os/memory/buffer.hpp"
#include "sort/packed/input_reader.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kPiece = 1 << 20;

/// Returns a file without a name in `directory` with the contents of `f`.
base::result<os::file> file_copy(const os::file& f, const std::string& directory) {
  auto copy = os::file::unnamed(directory);
  if (!copy) return copy;
  if (auto r = os::pour(f, *copy); !r) return std::unexpected(r.error());
  return copy;
}

/// The inputs of a sort, one behind the other: in memory while they fit in `room` bytes, then in a
/// file without a name in `directory`.
class input_copy {
 public:
  input_copy(std::uint64_t room, const std::string& directory)
      : room_(room), directory_(directory) {}

  base::result<void> begin() {
    auto f = room_ > 0 ? os::file::in_memory("a copy of the input") : os::file::unnamed(directory_);
    if (!f) return std::unexpected(f.error());
    file_ = std::move(*f);
    return {};
  }
  base::result<void> append(std::span<const std::byte> bytes) {
    if (room_ > 0 && bytes_ + bytes.size() > room_) {
      auto moved = file_copy(file_, directory_);
      if (!moved) return std::unexpected(moved.error());
      file_ = std::move(*moved);
      room_ = 0;
    }
    if (auto r = file_.write(bytes, bytes_); !r) return r;
    bytes_ += bytes.size();
    return {};
  }
  std::uint64_t bytes() const noexcept { return bytes_; }
  const os::file& file() const noexcept { return file_; }
  base::result<source> finish() && {
    auto s = source::of(std::move(file_));
    if (s && room_ > 0) s->set_in_memory();
    return s;
  }

 private:
  std::uint64_t room_;  // 0: it lies in a file
  const std::string directory_;
  os::file file_;
  std::uint64_t bytes_ = 0;
};

/// Appends all that `in` gives.
base::result<void> append_all(input_reader& in, input_copy& to) {
  auto piece = os::buffer::reserve(kPiece);
  if (!piece) return std::unexpected(piece.error());
  const std::span<std::byte> room(piece->data(), piece->size());
  for (;;) {
    const auto n = in.read(room);
    if (!n) return std::unexpected(n.error());
    if (*n == 0) return {};
    if (auto r = to.append(room.first(*n)); !r) return r;
  }
}

/// Ends the last record of the input that was copied from `begin` on, so that the next input begins
/// with a record.
base::result<void> end_record(const sort_options& o, input_copy& copy, std::uint64_t begin) {
  const std::uint64_t end = copy.bytes();
  if (o.format == record_format::fixed && o.record_bytes > 0 && end % o.record_bytes != 0) {
    return std::unexpected(base::error{
        fmt::format("an input has {} bytes, no multiple of the record of {}: it is cut, or "
                    "--record is wrong",
                    end - begin, o.record_bytes),
        0});
  }
  if (o.format != record_format::lines || end == begin) return {};
  std::byte last{};
  if (auto r = copy.file().read({&last, 1}, end - 1); !r) return r;
  if (last == std::byte(o.line_end)) return {};
  last = std::byte(o.line_end);
  return copy.append({&last, 1});
}

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
  input_copy copy(room, directory);
  if (auto r = copy.begin(); !r) return std::unexpected(r.error());
  for (const os::input_file& input : inputs) {
    const std::uint64_t begin = copy.bytes();
    input_reader in(input.handle, j.options.stop);
    if (auto r = j.options.unpack ? in.look() : base::result<void>{}; !r) {
      return std::unexpected(r.error());
    }
    if (auto r = append_all(in, copy); !r) return std::unexpected(r.error());
    if (&input == &inputs.back()) break;
    if (auto r = end_record(j.options, copy, begin); !r) return std::unexpected(r.error());
  }
  j.count(sort_stage::copy, copy.bytes(), copy.bytes());
  return std::move(copy).finish();
}

base::result<void> source::leave_memory(const std::string& directory) {
  auto moved = file_copy(file_, directory);
  if (!moved) return std::unexpected(moved.error());
  auto s = of(std::move(*moved));
  if (!s) return std::unexpected(s.error());
  *this = std::move(*s);
  return {};
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
