// OBJECT and MEMORY: how a value is kept.
#include "heap/allocator.hpp"
#include "heap/usage.hpp"
#include "store/commands/command.hpp"
#include "store/text.hpp"
#include "sync/retire.hpp"

namespace isotherm::store {

namespace {

constexpr std::size_t kLongestEmbedded = 44;  // Redis' own bound, which clients see

std::string_view encoding_of(const record& value) {
  if (value.how == encoding::raw) return "raw";
  if (value.how == encoding::by_value && value.payload.size() <= 20 &&
      parse_integer(value.payload)) {
    return "int";
  }
  return value.payload.size() <= kLongestEmbedded ? "embstr" : "raw";
}

/// The record that the last argument names, or null as the answer, or a failure.
std::optional<record> find_or_null(call& c) {
  const auto found = c.find(c[2], lookup::inspect);
  if (!found) {
    c.fail(found.error());
    return std::nullopt;
  }
  if (!*found) c.out.null();
  return *found;
}

void object_encoding(call& c) {
  if (const auto found = find_or_null(c)) c.out.bulk(encoding_of(*found));
}

void object_idletime(call& c) {
  if (find_or_null(c)) c.out.integer(c.db.idle_seconds(c[2], c.now));
}

void object_freq(call& c) {
  if (!find_or_null(c)) return;
  c.out.error(
      "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that "
      "when switching between policies at runtime LRU and LFU data will take some time to adjust.");
}

void object_refcount(call& c) {
  if (find_or_null(c)) c.out.integer(1);
}

void object_help(call& c) {
  static constexpr std::string_view kLines[] = {
      "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "ENCODING <key>",
      "    Return the kind of internal representation used in order to store the value",
      "    associated with a <key>.",
      "FREQ <key>",
      "    Return the access frequency index of the <key>. The returned integer is",
      "    proportional to the logarithm of the recent access frequency of the key.",
      "IDLETIME <key>",
      "    Return the idle time of the <key>, that is the approximated number of",
      "    seconds elapsed since the last access to the key.",
      "REFCOUNT <key>",
      "    Return the number of references of the value associated with the specified",
      "    <key>.",
      "HELP",
      "    Prints this help."};
  c.out.statuses(kLines);
}

/// An object as the heaps lay it out: header and content, rounded to 16 bytes.
constexpr std::size_t object_bytes(std::size_t content) noexcept {
  constexpr std::size_t kHeader = 8, kUnit = 16;
  return (kHeader + content + kUnit - 1) / kUnit * kUnit;
}
/// Bytes that an index keeps for a key: guides of key and value, and about as much again for links.
constexpr std::size_t kNodeBytes = 4 * sizeof(void*);
/// For a key that expires, the stripe keeps a copy of the key and the time (stripes.hpp).
constexpr std::size_t expiry_bytes(std::size_t key) noexcept { return 64 + key; }

void memory_usage(call& c) {
  for (std::size_t i = 3; i < c.count(); i += 2) {
    if (!equals_folded(c[i], "samples") || i + 1 == c.count()) return c.out.error(errors::kSyntax);
    const auto samples = parse_integer(c[i + 1]);
    if (!samples) return c.out.error(errors::kNotInteger);
    if (*samples < 0) return c.out.error(errors::kSyntax);
  }
  const auto looked = c.find(c[2], lookup::peek);  // counts no hit and no miss
  if (!looked) return c.fail(looked.error());
  const std::optional<record>& found = *looked;
  if (!found) return c.out.null();
  const bool expires = found->expires_ms != kNever;
  const std::size_t bytes =
      kNodeBytes + object_bytes(c[2].size()) +
      object_bytes(records::stored_bytes(found->payload.size(), found->expires_ms, found->room)) +
      (expires ? expiry_bytes(c[2].size()) : 0);
  c.out.integer(static_cast<std::int64_t>(bytes));
}

void memory_purge(call& c) {
  sync::reclaim_ready();
  if (c.db.index().is_managed()) heap::trim();
  heap::purge_allocator();
  c.out.ok();
}

void memory_help(call& c) {
  static constexpr std::string_view kLines[] = {
      "MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "PURGE",
      "    Give free pages back to the system.",
      "USAGE <key> [SAMPLES <count>]",
      "    Return memory in bytes used by <key> and its value.",
      "HELP",
      "    Prints this help."};
  c.out.statuses(kLines);
}

constexpr key_positions kSecond{2, 2, 1};
constexpr std::string_view kGroup = "generic";
constexpr command kObject[] = {
    {"encoding", 3, kReadOnly, kSecond, object_encoding, kGroup, "2.2.3",
     "Inspect the internal encoding of a Redis object"},
    {"freq", 3, kReadOnly, kSecond, object_freq, kGroup, "4.0.0",
     "Get the logarithmic access frequency counter of a Redis object"},
    {"idletime", 3, kReadOnly, kSecond, object_idletime, kGroup, "2.2.3",
     "Get the time since a Redis object was last accessed"},
    {"refcount", 3, kReadOnly, kSecond, object_refcount, kGroup, "2.2.3",
     "Get the number of references to the value of the key"},
    {"help", 2, 0, {}, object_help, kGroup, "6.2.0", "Show helpful text about the subcommands"},
};
constexpr command kMemory[] = {
    {"usage", -3, kReadOnly, kSecond, memory_usage, "server", "4.0.0",
     "Estimate the memory usage of a key"},
    {"purge", 2, 0, {}, memory_purge, "server", "4.0.0", "Ask the allocator to release memory"},
    {"help", 2, 0, {}, memory_help, "server", "4.0.0", "Show helpful text about the subcommands"},
};
constexpr command kCommands[] = {
    {"object",
     -2,
     0,
     {},
     nullptr,
     kGroup,
     "2.2.3",
     "A container for object introspection commands",
     kObject},
    {"memory",
     -2,
     0,
     {},
     nullptr,
     "server",
     "4.0.0",
     "A container for memory diagnostics commands",
     kMemory},
};

}  // namespace

std::span<const command> object_commands() { return kCommands; }

}  // namespace isotherm::store
