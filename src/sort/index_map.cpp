#include <isotherm/index_map.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "os/memory/buffer.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/checks.hpp"
#include "sort/index_sort/refine.hpp"
#include "sort/input/header.hpp"
#include "sort/output/gather.hpp"
#include "sort/plan/context.hpp"
#include "sort/runs/loader.hpp"

namespace isotherm {

struct index_map::state {
  state(sort_options o, const sort::plan& p, sort::source s)
      : work(std::move(o), nullptr), share(p), input(std::move(s)), layout(work.options) {}

  /// Plans the map of `input`, and refuses options that do not fit.
  static base::result<std::unique_ptr<state>> plan(sort::source input, const sort_options& options);

  sort::entry at(std::uint64_t position) const {
    ISO_CHECK(position < entries.size(), "the position must be below the size of the map");
    return entries[position];
  }
  base::result<std::vector<std::byte>> read(sort::extent x) {
    std::vector<std::byte> bytes(x.bytes);
    sort::gatherer(context()).put(x, bytes.data());
    if (auto r = work.status(); !r) return std::unexpected(r.error());
    materialised += std::min(x.bytes, input.size() - x.offset);
    return bytes;
  }

  sort::context context() { return {work, share, input, layout}; }

  sort::job work;
  sort::plan share;
  sort::source input;
  sort::record_layout layout;
  os::buffer memory;
  std::span<sort::entry> entries;
  std::uint64_t materialised = 0;
  bool ends_open = false;  // the last line lacks its end; of records in memory
};

index_map::index_map(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
index_map::index_map(index_map&& other) noexcept = default;
index_map& index_map::operator=(index_map&& other) noexcept = default;
index_map::~index_map() = default;

base::result<std::unique_ptr<index_map::state>> index_map::state::plan(
    sort::source input, const sort_options& options) {
  sort_options o = options;
  o.algorithm = sort_algorithm::onepass;
  o.unique = o.count = false;
  o.top = 0;
  if (auto r = sort::check_options(o, input.size()); !r) return std::unexpected(r.error());
  const auto header = input.header_bytes(o);
  if (!header) return std::unexpected(header.error());
  auto resolved = sort::with_columns(o, input.handle(), *header);
  if (!resolved) return std::unexpected(resolved.error());
  auto p = sort::make_plan(o, o.algorithm, sort::facts_of({.bytes = input.size()}, nullptr));
  if (!p) return std::unexpected(p.error());
  p->header_bytes = *header;
  p->scan_gather = false;  // records are in memory, or read one at a time
  return std::make_unique<state>(std::move(*resolved), *p, std::move(input));
}

base::result<index_map> index_map::load(std::unique_ptr<state> s, const std::string& name) {
  auto memory = os::buffer::reserve(s->share.index_entries * sizeof(sort::entry));
  if (!memory) return std::unexpected(memory.error());
  s->memory = std::move(*memory);
  sort::loader load(s->context());
  const std::span<sort::entry> room = s->memory.as<sort::entry>();
  const std::size_t n = room.empty() ? 0 : load.load(room);
  if (auto r = s->work.status(); !r) return std::unexpected(r.error());
  if (!load.at_end()) {
    return std::unexpected(
        base::error{fmt::format("the index map of {} needs more than the {} bytes of memory_bytes: "
                                "give more, or sort the file by sort_file()",
                                name, s->share.memory_bytes),
                    0});
  }
  s->entries = room.first(n);
  return index_map(std::move(s));
}

base::result<index_map> index_map::build(const std::string& path, const sort_options& options) {
  auto input = sort::source::open(path);
  if (!input) return std::unexpected(input.error());
  auto s = state::plan(std::move(*input), options);
  if (!s) return std::unexpected(s.error());
  return load(std::move(*s), path);
}

base::result<index_map> index_map::over(std::span<const std::byte> input,
                                        const sort_options& options) {
  if (options.header_lines != 0) {
    return std::unexpected(
        base::error{"records in memory have no header: leave it out of them", 0});
  }
  auto s = state::plan(sort::source::over(input), options);
  if (!s) return std::unexpected(s.error());
  const sort_options& o = (*s)->work.options;
  (*s)->ends_open =
      o.format == record_format::lines && !input.empty() && input.back() != std::byte(o.line_end);
  return load(std::move(*s), "the records");
}

std::uint64_t index_map::size() const noexcept { return state_->entries.size(); }

base::result<void> index_map::sort() {
  sort::sort_run(state_->context(), state_->entries, sort::equal_keys::stay);
  return state_->work.status();
}

// Entries compared as integers are ordered only by the key bytes that they hold. Records that share
// these bytes with the last wanted one may belong before it, so that they are sorted with it.
base::result<void> index_map::sort_first(std::uint64_t count) {
  const std::span<sort::entry> all = state_->entries;
  if (count >= all.size()) return sort();
  if (count == 0) return state_->work.status();
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(all.begin(), last, all.end());
  const auto& l = state_->layout.entries();
  const auto rest = std::partition(
      last + 1, all.end(), [&, key = l.key(*last)](sort::entry e) { return l.key(e) == key; });
  sort::sort_run(state_->context(), all.first(static_cast<std::size_t>(rest - all.begin())),
                 sort::equal_keys::stay);
  return state_->work.status();
}

base::result<index_map::place> index_map::locate(std::uint64_t position) const {
  sort::source_view view(state_->work, state_->input);
  const sort::extent x = state_->layout.locate(state_->at(position), view);
  if (auto r = state_->work.status(); !r) return std::unexpected(r.error());
  return place{x.offset, x.bytes};
}

base::result<void> index_map::locate(std::uint64_t first, std::span<place> places) const {
  const sort::source_view view(state_->work, state_->input);
  for (place& each : places) {
    const sort::extent x = state_->layout.locate(state_->at(first++), view);
    each = {x.offset, x.bytes};
  }
  return state_->work.status();
}

std::uint64_t index_map::record_bytes() const noexcept {
  return state_->input.size() + (state_->ends_open ? 1 : 0);
}

base::result<void> index_map::gather(std::span<std::byte> target) const {
  ISO_CHECK(state_->input.mapped() != nullptr || target.empty(), "the input must be in memory");
  ISO_CHECK(target.size() == record_bytes(), "the target must have the records' size");
  sort::gatherer gatherer(state_->context());
  sort::batch batch(state_->context());
  const sort::source_view view(state_->work, state_->input);
  std::byte* at = target.data();
  for (std::span<sort::entry> left = state_->entries; !left.empty() && !state_->work.stopped();) {
    const std::size_t n = batch.take(left);
    if (n > 0) {
      gatherer.gather(batch, at);
      at += batch.bytes();
    } else {
      const sort::extent large = state_->layout.locate(left.front(), view);
      gatherer.put(large, at);
      at += large.bytes;
    }
    left = left.subspan(std::max<std::size_t>(n, 1));
  }
  return state_->work.status();
}

base::result<std::vector<std::byte>> index_map::key(std::uint64_t position) const {
  const sort::entry e = state_->at(position);
  if (const auto whole = state_->layout.whole_key(e)) {
    return std::vector<std::byte>(whole->bytes.begin(),
                                  whole->bytes.begin() + static_cast<std::ptrdiff_t>(whole->size));
  }
  sort::source_view view(state_->work, state_->input);
  const sort::record_key key = state_->layout.key_text(e, view);
  const std::byte* bytes = key.size() == 0 ? nullptr : key.bytes(view, 0, key.size());
  if (auto r = state_->work.status(); !r) return std::unexpected(r.error());
  state_->materialised += key.size();
  return std::vector<std::byte>(bytes, bytes + key.size());
}

base::result<std::vector<std::byte>> index_map::record(std::uint64_t position) const {
  sort::source_view view(state_->work, state_->input);
  return state_->read(state_->layout.locate(state_->at(position), view));
}

base::result<void> index_map::for_each_group(const std::function<bool(group)>& take) const {
  sort::source_view view(state_->work, state_->input);
  const std::span<sort::entry> all = state_->entries;
  for (std::uint64_t begin = 0; begin < all.size() && !state_->work.stopped();) {
    std::uint64_t end = begin + 1;
    while (end < all.size() && state_->layout.same_key(all[begin], all[end], view)) ++end;
    if (!take({begin, end - begin})) break;
    begin = end;
  }
  return state_->work.status();
}

std::uint64_t index_map::bytes_materialised() const noexcept { return state_->materialised; }

}  // namespace isotherm
