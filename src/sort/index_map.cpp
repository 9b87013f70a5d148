#include <isotherm/index_map.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "os/memory/buffer.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/checks.hpp"
#include "sort/index_sort/refine.hpp"
#include "sort/input/header.hpp"
#include "sort/plan/context.hpp"
#include "sort/runs/loader.hpp"

namespace isotherm {

struct index_map::state {
  state(sort_options o, const sort::plan& p, sort::source s)
      : work(std::move(o), nullptr), share(p), input(std::move(s)), layout(work.options) {}

  sort::entry at(std::uint64_t position) const {
    ISO_CHECK(position < entries.size(), "the position must be below the size of the map");
    return entries[position];
  }
  base::result<std::vector<std::byte>> read(sort::extent x) {
    // The last line may lack its newline; its extent includes one all the same.
    const std::uint64_t there = std::min(x.bytes, input.size() - x.offset);
    std::vector<std::byte> bytes(x.bytes, std::byte(work.options.line_end));
    work.keep(input.handle().read(std::span(bytes).first(there), x.offset));
    if (auto r = work.status(); !r) return std::unexpected(r.error());
    materialised += there;
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
};

index_map::index_map(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
index_map::index_map(index_map&& other) noexcept = default;
index_map& index_map::operator=(index_map&& other) noexcept = default;
index_map::~index_map() = default;

base::result<index_map> index_map::build(const std::string& path, const sort_options& options) {
  auto input = sort::source::open(path);
  if (!input) return std::unexpected(input.error());
  sort_options o = options;
  o.algorithm = sort_algorithm::onepass;
  o.unique = o.count = false;
  o.top = 0;
  if (auto r = sort::check_options(o, input->size()); !r) return std::unexpected(r.error());
  const auto header = input->header_bytes(o);
  if (!header) return std::unexpected(header.error());
  auto resolved = sort::with_columns(o, input->handle(), *header);
  if (!resolved) return std::unexpected(resolved.error());
  auto p = sort::make_plan(o, o.algorithm, sort::facts_of({.bytes = input->size()}, nullptr));
  if (!p) return std::unexpected(p.error());
  p->header_bytes = *header;
  auto s = std::make_unique<state>(std::move(*resolved), *p, std::move(*input));
  const std::uint64_t capacity = s->share.index_entries;
  auto memory = os::buffer::reserve(capacity * sizeof(sort::entry));
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
                                path, s->share.memory_bytes),
                    0});
  }
  s->entries = room.first(n);
  return index_map(std::move(s));
}

std::uint64_t index_map::size() const noexcept { return state_->entries.size(); }

base::result<void> index_map::sort() {
  sort::sort_run(state_->context(), state_->entries, sort::equal_keys::stay);
  return state_->work.status();
}

// As integers, entries are ordered only by the key bytes that they hold. Records that share these
// bytes with the last wanted one may belong before it, so that they are sorted with it.
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
