// Traces that are drawn from published parameters: sources of the same interface as files.
//
// A generated trace has the distributions that were published, and nothing else of the service:
// requests are independent of each other but for what a generator's head says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/random.hpp"
#include "lab/traces/source.hpp"

namespace isotherm::traces {

/// The trace to draw.
struct generate_options {
  std::uint64_t requests = 1'000'000;
  std::uint64_t seed = 1;             ///< the same: the same requests
  std::optional<std::uint64_t> keys;  ///< absent: the generator's own number
  double rate = 0;                    ///< requests a second; 0: the published one, or 10,000
  std::string distributions;  ///< folder of config.json, pop.json and sizes.json, of CacheLib
};

/// One that can be asked for by name.
struct generator {
  std::string_view name;
  std::string_view about;  ///< for the help: the parameters and where they were published
  base::result<std::unique_ptr<source>> (*make)(const generate_options& asked);
};

/// All generators, in the order of the help.
std::span<const generator> generators() noexcept;
/// Makes the one called `name`. Errors name the flag to change.
base::result<std::unique_ptr<source>> generate(std::string_view name,
                                               const generate_options& asked);

/// The part that all generators share: counts the requests, and gives each a time.
class generated_source : public source {
 public:
  base::result<bool> next(request& to) final;
  const malformed_lines& malformed() const noexcept final { return none_; }
  std::string_view format() const noexcept final { return name_; }
  bool has_times() const noexcept final { return true; }

 protected:
  generated_source(std::string_view name, const generate_options& asked, double rate)
      : random_(asked.seed),
        name_(name),
        left_(asked.requests),
        rate_(asked.rate > 0 ? asked.rate : rate) {}

  /// Draws all of a request but its time.
  virtual void draw(request& to) = 0;
  /// Requests a second at `seconds` from the beginning.
  virtual double rate_at(double) const { return rate_; }
  /// Writes the name of a key: sixteen hexadecimal digits that scatter neighbours, behind `prefix`.
  std::string_view scattered(std::string_view prefix, std::uint64_t number);

  base::random random_;
  std::string key_;

 private:
  std::string_view name_;
  std::uint64_t left_;
  double rate_;
  double seconds_ = 0;
  malformed_lines none_;
};

}  // namespace isotherm::traces
