// The head of a request as libmicrohttpd has received it. For the thread that runs the daemon, in
// its callbacks.
#pragma once

#include <microhttpd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace isotherm::live {

/// Memory of a connection: its request's head must fit, and what is sent is kept there.
inline constexpr std::size_t kConnectionBytes = std::size_t{16} << 10;

/// Returns the value of a header; empty: there is none, or it is empty. Valid while the request is
/// answered.
std::string_view header_of(MHD_Connection* from, const char* name);
/// Returns a parameter of the query; nullopt: there is none.
std::optional<std::string_view> parameter_of(MHD_Connection* from, const char* name);
/// Returns a parameter as a number; nullopt: there is none, or it is no number.
std::optional<std::uint64_t> number_of(MHD_Connection* from, const char* name);
/// Returns the header Host; nullopt: there is none.
std::optional<std::string_view> host_of(MHD_Connection* from);

/// Whether the head says two things, of which a proxy before this may have understood the other.
bool is_ambiguous(MHD_Connection* from);

/// Whether the library has memory for the head of an answer beside that of the request: of each
/// header a row, and of cookies a copy. If it has not, it closes the connection without a word.
bool leaves_room_to_answer(MHD_Connection* from, std::string_view path);
/// Sends a 431 directly on the socket, and closes the connection.
MHD_Result refuse_head(MHD_Connection* from);

}  // namespace isotherm::live
