#pragma once

#include <cstddef>
#include <cstdint>

/// Every bound of Weir, with its unit and its reason. A length from outside is compared with its limit before anything
/// is allocated for it.
namespace weir::limits {

inline constexpr std::size_t KiB = 1024;
inline constexpr std::size_t MiB = 1024 * KiB;

// --- formats -------------------------------------------------------------------------------------------------------
inline constexpr int cbor_depth_max = 64;  ///< nested arrays and maps; recursion stays far below a thread's stack

// --- statements, bundles, objects ------------------------------------------------------------------------------------
inline constexpr std::size_t object_bytes_max = 8 * MiB;      ///< one object; two fit a reassembled RSocket payload
inline constexpr std::size_t statement_bytes_max = 64 * KiB;  ///< one statement, encoded
inline constexpr std::size_t namespace_bytes_max = 255;       ///< dotted name, as DNS names
inline constexpr std::size_t ref_bytes_max = 1024;            ///< one well-known identifier or tag
inline constexpr std::size_t refs_max = 256;                  ///< refs, tags or deps of one statement, each
inline constexpr std::size_t bundle_statements_max = 1024;    ///< ids under one signature: 40 KiB, 50 µs to verify

// --- flow ------------------------------------------------------------------------------------------------------------
inline constexpr std::size_t merge_concurrent = 128;   ///< inputs of a merge that are open at once, by default
inline constexpr std::size_t merge_quantum = 1024;     ///< items of one input before the next has its turn
inline constexpr std::size_t group_items = 256;        ///< items that wait in one group: as many as a hop publishes
inline constexpr std::size_t groups_open = 128;        ///< groups at once: as many as a merge has open
inline constexpr std::size_t windows_open = 16;        ///< windows that somebody still holds, beside those that fill
inline constexpr std::size_t delayed_errors = 16;      ///< failures a merge tells at its end; more are only counted
inline constexpr std::size_t hop_bytes = 64 * KiB;     ///< ring of a thread hop: a sleep costs 20 µs, as long as
inline constexpr std::size_t hop_items_max = 8192;     ///<   it takes to go through this much
inline constexpr std::size_t hop_quantum = 256;        ///< items published at once; more gains nothing
inline constexpr std::size_t run_items = 4096;         ///< items of one task run before others have their turn
inline constexpr std::size_t distinct_items = 65536;   ///< keys that distinct remembers, by default: some MiB of texts
inline constexpr std::size_t inbox_items = 1024;       ///< places of an inbox, by default: a burst of one turn
inline constexpr std::size_t share_lag_items = 256;    ///< items the fastest subscriber may be ahead of the slowest
inline constexpr std::size_t subscriber_window = 128;  ///< items asked of a foreign publisher ahead of time
inline constexpr std::size_t rail_items = 256;         ///< items that wait for parallel's rails, and results of each
inline constexpr std::size_t rail_claim = 8;           ///< items a rail takes at once: all wait behind a slow one
inline constexpr std::size_t delay_items = 1024;       ///< items on their way through a delay: a burst of one turn

// --- store -----------------------------------------------------------------------------------------------------------
inline constexpr std::size_t batch_statements_max = 8192;    ///< one durable write: two fsyncs, ~8 MiB of objects
inline constexpr std::size_t batch_bytes_max = 32 * MiB;     ///< the same, in octets of objects and statements
inline constexpr std::size_t segment_bytes_max = 256 * MiB;  ///< one object file; the next is begun after it
inline constexpr std::size_t query_bytes_max = 4 * KiB;      ///< text of a query
inline constexpr int query_depth_max = 32;                   ///< parentheses and NOTs

// --- import ------------------------------------------------------------------------------------------------------------
inline constexpr std::size_t stanza_bytes_max = 1 * MiB;     ///< one deb822 stanza
inline constexpr std::size_t json_line_bytes_max = 4 * MiB;  ///< one line of JSON lines

// --- net -------------------------------------------------------------------------------------------------------------
inline constexpr std::size_t bundle_bytes = 64 * KiB;       ///< outgoing bytes that force a flush within a loop turn
inline constexpr std::size_t outgoing_bytes_max = 1 * MiB;  ///< queued per connection before senders are held back
inline constexpr std::size_t frame_bytes_max = 64 * KiB;    ///< what we send; longer payloads are fragmented
inline constexpr std::size_t frame_bytes_accepted = 16 * MiB - 1;  ///< what the 24-bit length can say
inline constexpr std::size_t payload_bytes_max = 16 * MiB;         ///< one reassembled payload
inline constexpr std::size_t reassembly_bytes_max = 64 * MiB;      ///< all unfinished payloads of one connection
inline constexpr std::size_t streams_max = 1024;                   ///< open streams of one connection, each direction
inline constexpr std::size_t connections_max = 1024;               ///< accepted at once by one server
inline constexpr std::uint32_t setup_ms_max = 5'000;               ///< from accept to a valid SETUP
inline constexpr std::uint32_t keepalive_ms = 20'000;              ///< between two KEEPALIVE frames we send
inline constexpr std::uint32_t keepalive_lifetime_ms = 90'000;     ///< silence after which a peer counts as gone
inline constexpr std::uint32_t window_items = 64;                  ///< default REQUEST_N window of a stream

// --- merge -----------------------------------------------------------------------------------------------------------
inline constexpr std::size_t lanes = 4;                            ///< fetches in flight at once, by default
inline constexpr std::size_t lanes_max = 64;                       ///< what a user may ask for
inline constexpr std::size_t fetches_max = 128;                    ///< fetches one connection may have open at a source
inline constexpr std::size_t fetch_statements_max = 1024;          ///< statements of one fetch: a whole bundle
inline constexpr std::size_t fetch_bundles_max = 64;               ///< bundles of one fetch: 2.7 MiB if all are full
inline constexpr std::size_t fetch_statement_bytes_max = 1 * MiB;  ///< the same, encoded
inline constexpr std::size_t fetch_objects_max = 8192;             ///< objects of one fetch, deps included
inline constexpr std::size_t fetch_payload_bytes = 256 * KiB;      ///< blocks gathered into one payload of a reply
inline constexpr std::size_t fetch_held_bytes = 4 * MiB;           ///< objects a fetch gathers before it hands them on
inline constexpr std::size_t merged_batches = 4;                   ///< verified batches that wait for the writer

// --- node ------------------------------------------------------------------------------------------------------------
inline constexpr std::size_t publication_bytes_max =
    4 * MiB;                                  ///< records sent to a node at once; one more object still fits a payload
inline constexpr std::size_t merges_max = 8;  ///< merges a node runs at once for its owner
inline constexpr std::size_t damage_lines_max = 20;  ///< findings of a check that are told one by one

}  // namespace weir::limits
