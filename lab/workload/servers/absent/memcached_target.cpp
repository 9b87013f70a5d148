// In a build without libmemcached.
#include "lab/workload/servers/memcached_target.hpp"

namespace isotherm::workload {

base::result<std::unique_ptr<session>> memcached_target::connect() {
  return std::unexpected(base::error{
      "this build has no client of memcached: install libmemcached-dev, and build again"});
}

}  // namespace isotherm::workload
