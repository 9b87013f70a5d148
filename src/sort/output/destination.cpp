#include "sort/output/destination.hpp"

#include <algorithm>

#include "os/files/spool.hpp"
#include "os/limits/processors.hpp"
#include "os/memory/available_memory.hpp"

namespace isotherm::sort {
namespace {

/// Waits until the output's bytes are on the device.
base::result<void> sync(job& j, const os::pending_file& f) {
  const stage_timer timer(j, sort_stage::sync);
  return f.sync();
}

sort_packing packing_of_output(const sort_options& o, const std::string& path) noexcept {
  return o.packing == sort_packing::automatic ? packing_of_name(path) : o.packing;
}

}  // namespace

unsigned packing_threads(const sort_options& o, const std::string& path) {
  if (packing_of_output(o, path) == sort_packing::none) return 0;
  const std::uint64_t limit = o.memory_bytes != 0 ? o.memory_bytes : os::available_memory() / 2;
  const std::uint64_t most = os::available_processors();
  return static_cast<unsigned>(std::clamp<std::uint64_t>(limit / 8 / kPackerBytes, 1, most));
}

base::result<void> destination::explain(base::result<void> state) {
  if (state || !packer_) return state;
  auto cause = packer_->finish();
  return cause ? state : cause;
}

base::result<destination> destination::open(const job& j, const std::string& path,
                                            const std::string& directory, const os::file& input,
                                            arrival how, unsigned packers) {
  destination d;
  const bool stream = os::is_stream(path);
  if (stream) {
    auto to = os::open_stream(path);
    auto in_order = to ? to->in_order(j.options.stop) : std::move(to);
    if (!in_order) return std::unexpected(in_order.error());
    d.stream_ = std::make_unique<os::file>(std::move(*in_order));
  } else {
    auto f = os::pending_file::create(path, directory, &input);
    if (!f) return std::unexpected(f.error());
    d.file_ = std::make_unique<os::pending_file>(std::move(*f));
  }
  if (packers > 0) {
    d.packer_ = std::make_unique<packed_output>(packing_of_output(j.options, path),
                                                stream ? *d.stream_ : d.file_->handle());
    if (auto r = d.packer_->start(packers); !r) return std::unexpected(r.error());
  }
  if (how == arrival::anywhere && (stream || d.packer_)) {
    auto f = os::file::unnamed(directory);
    if (!f) return std::unexpected(f.error());
    d.waiting_ = std::move(*f);
  }
  return d;
}

const os::file& destination::handle() const noexcept {
  if (waiting_) return waiting_;
  if (packer_) return packer_->entrance();
  return stream_ ? *stream_ : file_->handle();
}

base::result<void> destination::finish(job& j) {
  if (auto r = prepare(j); !r || !file_) return r;
  if (auto r = j.status(); !r) return r;
  return publish(j);
}

base::result<void> destination::prepare(job& j) {
  auto poured = [&]() -> base::result<void> {
    if (!waiting_) return {};
    return os::pour(waiting_, packer_ ? packer_->entrance() : *stream_);
  }();
  // The cause is the packer's: who writes to it only learns that nobody reads.
  if (packer_) {
    if (auto r = packer_->finish(); !r) return r;
  }
  if (!poured || !file_) return poured;
  return j.options.durable ? sync(j, *file_) : base::result<void>{};
}

base::result<void> destination::publish(job& j) {
  if (!file_) return {};
  if (auto r = file_->publish(j.options.stop); !r || !j.options.durable) return r;
  const stage_timer timer(j, sort_stage::sync);
  return file_->sync_name();
}

}  // namespace isotherm::sort
