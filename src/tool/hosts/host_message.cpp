// SPDX-License-Identifier: Apache-2.0
// The messages between the launcher and its agent on a host.
#include "tool/hosts/host_message.hpp"

#include <utility>

#include <nacre/archive.hpp>
#include <nacre/error.hpp>
#include <nacre/run.hpp>

namespace nacre::tool {

template <class Archive>
void serialize(Archive& ar, host_launch_spec& t) {
  ar(t.host, t.index, t.hosts, t.launcher, t.agent_secret, t.control_address, t.job_secret, t.size, t.ranks, t.folder,
     t.arguments, t.variables);
}
template <class Archive>
void serialize(Archive& ar, host_ready& m) {
  ar(m.program, m.fingerprint);
}
template <class Archive>
void serialize(Archive& ar, rank_output& m) {
  ar(m.rank, m.to_error, m.text);
}
template <class Archive>
void serialize(Archive& ar, input_text& m) {
  ar(m.text);
}
template <class Archive>
void serialize(Archive& ar, input_taken& m) {
  ar(m.more);
}
template <class Archive>
void serialize(Archive& ar, ending& ending) {
  ar(ending.cause, ending.number);
}
template <class Archive>
void serialize(Archive& ar, rank_ended& m) {
  ar(m.rank, m.outcome);
}
template <class Archive>
void serialize(Archive& ar, host_failed& m) {
  ar(m.problem);
}

bool wire_valid(ending::kind kind) noexcept { return kind <= ending::kind::lost; }

std::vector<std::byte> pack_host_spec(const host_launch_spec& host_spec) {
  return pack(std::string(version()), pack(host_spec));
}

host_launch_spec unpack_host_spec(std::span<const std::byte> bytes) {
  const std::string reason = "nacre run tells its agent on a host what to do";
  auto parts = unpack<std::pair<std::string, std::vector<std::byte>>>(bytes);
  if (!parts) {
    throw setup_error(
        {.problem = "standard input holds no orders of a launcher",
         .why = reason,
         .remedy = "let nacre run start this command, with a remote shell that passes bytes on unchanged"});
  }
  auto host_spec = unpack<host_launch_spec>(parts->second);
  if (parts->first != version() || !host_spec) {
    throw setup_error({.problem = "the launcher is nacre " + parts->first + ", and this is nacre " + version(),
                       .why = reason,
                       .remedy = "install one version on all hosts, or name it with --nacre PATH"});
  }
  return std::move(*host_spec);
}

}  // namespace nacre::tool

namespace nacre {
template class launch::message_stream<tool::host_message>;
}
