#include "sort/split/part_files.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "sort/header.hpp"

namespace isotherm::sort {

base::result<part_files> part_files::open(const job& j, const std::vector<std::string>& paths,
                                          const std::string& directory, const os::file& input) {
  part_files all;
  all.parts_.reserve(paths.size());
  for (const std::string& path : paths) {
    auto file = destination::open(j, path, directory, input, arrival::anywhere, 0);
    if (!file && file.error().code == EMFILE) {
      return std::unexpected(base::error{
          fmt::format("{}; {} parts take a file each: raise `ulimit -n`, or split into fewer parts "
                      "and those again",
                      file.error().message, paths.size()),
          EMFILE});
    }
    if (!file) return std::unexpected(file.error());
    all.parts_.push_back({std::move(*file)});
  }
  return all;
}

void part_files::write_header(const context& ctx) {
  turn_->next = ctx.plan.header_bytes;
  for (part& each : parts_) {
    sort::write_header(ctx, {}, each.file.handle());
    each.bytes = ctx.plan.output_header_bytes;
  }
}

void part_files::append(job& j, const record_blocks::block& b, std::span<const group> groups) {
  std::vector<std::uint64_t> at(groups.size());
  {
    std::unique_lock guard(turn_->lock);
    turn_->changed.wait(guard, [&] { return turn_->next == b.offset || j.stopped(); });
    if (j.stopped()) return;
    for (std::size_t p = 0; p < groups.size(); ++p) {
      at[p] = parts_[p].bytes;
      parts_[p].bytes += groups[p].bytes.size();
      parts_[p].records += groups[p].records;
    }
    turn_->next = b.end;
  }
  turn_->changed.notify_all();
  for (std::size_t p = 0; p < groups.size() && !j.stopped(); ++p) {
    if (groups[p].bytes.empty()) continue;
    if (!j.keep(parts_[p].file.handle().write(groups[p].bytes, at[p]))) return;
    j.count(sort_stage::run_write, 0, groups[p].bytes.size());
  }
}

void part_files::leave() {
  {
    const std::lock_guard guard(turn_->lock);
  }  // none is between its look at the job and its sleep
  turn_->changed.notify_all();
}

base::result<void> part_files::finish(job& j) {
  for (part& each : parts_) {
    if (auto r = each.file.prepare(j); !r) return r;
  }
  // From here on an interrupt comes too late: some parts would have new names, and some not.
  if (auto r = j.status(); !r) return r;
  for (part& each : parts_) {
    if (auto r = each.file.publish(j); !r) return r;
  }
  return {};
}

}  // namespace isotherm::sort
