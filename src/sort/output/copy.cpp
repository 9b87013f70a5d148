#include "sort/output/copy.hpp"

#include <algorithm>

#include "device/stream.hpp"
#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread_pool.hpp"
#include "sort/runs/runs.hpp"

namespace isotherm::sort {

void copy_input(const context& ctx, const os::file& out) {
  const stage_timer timer(ctx.job, sort_stage::copy);
  auto buffer = os::buffer::reserve(ctx.plan.output_buffer_bytes);
  if (!ctx.job.keep(buffer)) return;
  for (std::uint64_t at = ctx.plan.header_bytes; at < ctx.input.size() && !ctx.job.stopped();
       at += buffer->size()) {
    const std::uint64_t n = std::min<std::uint64_t>(buffer->size(), ctx.input.size() - at);
    {
      const device::stream_group group(ctx.job.emulation, device::access::sequential_read,
                                       ctx.plan.read_threads);
      ctx.job.readers.run(ctx.plan.read_threads, [&](unsigned t) {
        device::stream stream(group);
        const auto [begin, end] = os::part_of(n, ctx.plan.read_threads, t);
        if (begin == end) return;
        ctx.job.keep(
            stream.read(ctx.input.handle(), {buffer->data() + begin, end - begin}, at + begin));
      });
    }
    pooled_write(ctx, out, {buffer->data(), n}, at, sort_stage::copy);
    ctx.job.count(sort_stage::copy, n, 0);
    ctx.job.progress(sort_stage::copy, at + n, ctx.input.size());
  }
}

}  // namespace isotherm::sort
