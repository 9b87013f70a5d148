#include "sort/input/source.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "os/files/file.hpp"
#include "os/files/mapping.hpp"
#include "os/files/spool.hpp"

namespace isotherm::sort {

base::result<source> source::open(const std::string& path) {
  auto f = os::file::open(path);
  if (!f) return std::unexpected(f.error());
  const auto still = os::holds_still(*f);
  if (!still) return std::unexpected(still.error());
  if (*still) return of(std::move(*f));
  return std::unexpected(
      base::error{path + " does not tell how much it holds: copy it to a file, and name that", 0});
}

base::result<source> source::open_or_copy(job& j, const std::string& path,
                                          const std::string& directory) {
  auto input = os::open_input(path);
  if (!input) return std::unexpected(input.error());
  if (input->still) return of(std::move(input->handle));
  const stage_timer timer(j, sort_stage::copy);
  auto copy = os::spool(input->handle, directory, j.options.stop);
  if (!copy) return std::unexpected(copy.error());
  auto s = of(std::move(*copy));
  if (s) j.count(sort_stage::copy, s->size(), s->size());
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
