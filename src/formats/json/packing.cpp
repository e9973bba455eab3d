// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/packing.hpp"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/json/memory.hpp"

namespace entrain::json {
namespace {

// The largest window, and the header: that of gzip, of zlib, or either of both.
constexpr int k_gzip = 15 + 16, k_zlib = 15, k_either = 15 + 32;
constexpr int k_memory_level = 8;
constexpr std::size_t k_least_room = std::size_t{1} << 12;    // of what is packed or unpacked
constexpr std::size_t k_most_at_once = std::size_t{1} << 30;  // zlib counts in 32 bits

class GzipUnpacker : public Unpacker {
 public:
  /// A stream that cannot begin is an error of inflate(), as of deflate() below.
  explicit GzipUnpacker(int header) { unless_no_memory(inflateInit2(&stream_, header)); }
  ~GzipUnpacker() override { inflateEnd(&stream_); }

  State unpack(std::span<const std::uint8_t>& from, std::span<char>& to) override {
    stream_.next_in = const_cast<Bytef*>(from.data());
    stream_.avail_in = static_cast<unsigned>(std::min(from.size(), k_most_at_once));
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    const std::size_t room = std::min(to.size(), k_most_at_once);
    stream_.avail_out = static_cast<unsigned>(room);
    const int state = unless_no_memory(inflate(&stream_, Z_NO_FLUSH));
    from = from.subspan(static_cast<std::size_t>(stream_.next_in - from.data()));
    to = to.subspan(room - stream_.avail_out);
    if (state == Z_STREAM_END) return State::end_of_stream;
    return state == Z_OK || state == Z_BUF_ERROR ? State::more : State::damaged;
  }
  void restart() override { inflateReset(&stream_); }
  [[nodiscard]] const char* name() const override { return "gzip"; }

 private:
  z_stream stream_{};
};

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

/// True if it is no error; throws std::bad_alloc.
bool is_fine(std::size_t result) {
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  return ZSTD_isError(result) == 0;
}

class ZstdUnpacker : public Unpacker {
 public:
  ZstdUnpacker() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
  }

  State unpack(std::span<const std::uint8_t>& from, std::span<char>& to) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    const std::size_t state = ZSTD_decompressStream(context_.get(), &out, &in);
    from = from.subspan(in.pos);
    to = to.subspan(out.pos);
    if (!is_fine(state)) return State::damaged;
    return state == 0 ? State::end_of_stream : State::more;
  }
  void restart() override { ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only); }
  [[nodiscard]] const char* name() const override { return "zstd"; }

 private:
  std::unique_ptr<ZSTD_DCtx, FreeZstd> context_;
};

class GzipPacker : public Packer {
 public:
  explicit GzipPacker(int header) {
    unless_no_memory(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, header,
                                  k_memory_level, Z_DEFAULT_STRATEGY));
  }
  ~GzipPacker() override { deflateEnd(&stream_); }

  State pack(std::string_view& from, bool last, std::span<std::uint8_t>& to) override {
    const std::string_view part = from.substr(0, k_most_at_once);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<unsigned>(part.size());
    stream_.next_out = to.data();
    stream_.avail_out = static_cast<unsigned>(to.size());
    const bool ends = last && part.size() == from.size();
    const int state = deflate(&stream_, ends ? Z_FINISH : Z_NO_FLUSH);
    from.remove_prefix(part.size() - stream_.avail_in);
    to = to.last(stream_.avail_out);
    if (state == Z_STREAM_ERROR) return State::failed;
    const bool is_done = last ? state == Z_STREAM_END : from.empty() && !to.empty();
    return is_done ? State::done : State::more;
  }

 private:
  z_stream stream_{};
};

class ZstdPacker : public Packer {
 public:
  ZstdPacker() : context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);  // as the tool zstd does
  }

  State pack(std::string_view& from, bool last, std::span<std::uint8_t>& to) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    const std::size_t left =
        ZSTD_compressStream2(context_.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    from.remove_prefix(in.pos);
    to = to.subspan(out.pos);
    if (!is_fine(left)) return State::failed;
    const bool is_done = last ? left == 0 : from.empty() && !to.empty();
    return is_done ? State::done : State::more;
  }

 private:
  std::unique_ptr<ZSTD_CCtx, FreeZstd> context_;
};

}  // namespace

Packing packing_of(std::span<const std::uint8_t> begin) {
  if (begin.size() >= 2 && begin[0] == 0x1F && begin[1] == 0x8B) return Packing::gzip;
  const bool is_zstd = begin.size() >= k_packing_mark && begin[0] == 0x28 && begin[1] == 0xB5 &&
                       begin[2] == 0x2F && begin[3] == 0xFD;
  return is_zstd ? Packing::zstd : Packing::none;
}

Result<Packing> packing_of(const std::filesystem::path& file) {
  TRY_ASSIGN(const File opened, File::open_for_reading(file));
  std::uint8_t mark[k_packing_mark];
  TRY_ASSIGN(const std::size_t size, opened.read_at(0, mark));
  return packing_of(std::span<const std::uint8_t>(mark, size));
}

bool has_ending(std::string_view name, std::string_view ending) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return name.size() >= ending.size() &&
         std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, small, small);
}

std::string packed_name(std::string_view name, Packing packing) {
  const std::string_view ending = packing == Packing::gzip   ? ".gz"
                                  : packing == Packing::zstd ? ".zst"
                                                             : "";
  if (!ending.empty() && has_ending(name, ending)) return std::string(name);
  return std::string(without_packing(name)).append(ending);
}

std::string_view without_packing(std::string_view name) {
  for (const std::string_view ending : {".gz", ".zst"}) {
    if (has_ending(name, ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

bool is_named(const std::filesystem::path& file, std::initializer_list<std::string_view> endings) {
  const std::string name = file.filename().string();
  return std::ranges::any_of(endings, [plain = without_packing(name)](std::string_view ending) {
    return has_ending(plain, ending);
  });
}

std::unique_ptr<Unpacker> Unpacker::make(Packing packing) {
  if (packing == Packing::gzip) return std::make_unique<GzipUnpacker>(k_gzip);
  if (packing == Packing::deflate) return std::make_unique<GzipUnpacker>(k_either);
  if (packing == Packing::zstd) return std::make_unique<ZstdUnpacker>();
  return nullptr;
}

std::unique_ptr<Packer> Packer::make(Packing packing) {
  if (packing == Packing::gzip) return std::make_unique<GzipPacker>(k_gzip);
  if (packing == Packing::deflate) return std::make_unique<GzipPacker>(k_zlib);
  if (packing == Packing::zstd) return std::make_unique<ZstdPacker>();
  return nullptr;
}

Unpacker::State unpack(Packing packing, std::string_view stream, std::size_t most,
                       std::string& text) {
  const std::unique_ptr<Unpacker> unpacker = Unpacker::make(packing);
  std::span from(reinterpret_cast<const std::uint8_t*>(stream.data()), stream.size());
  constexpr std::size_t k_usual_ratio = 4;
  text.clear();  // so that small streams take no more time after large ones
  text.resize(std::min(std::max(k_usual_ratio * stream.size(), k_least_room), most));
  std::span<char> to(text);
  for (;;) {
    const Unpacker::State state = unpacker->unpack(from, to);
    const std::size_t done = text.size() - to.size();
    const bool is_full = to.empty() && text.size() < most;
    if (state != Unpacker::State::more || !is_full) {
      text.resize(done);
      const bool ends_early = state == Unpacker::State::end_of_stream && !from.empty();
      return ends_early ? Unpacker::State::damaged : state;
    }
    text.resize(std::min(2 * done, most));
    to = std::span<char>(text).subspan(done);
  }
}

Result<std::string> pack(Packing packing, std::string_view text) {
  const std::unique_ptr<Packer> packer = Packer::make(packing);
  std::string stream;
  for (auto state = Packer::State::more; state == Packer::State::more;) {
    const std::size_t before = stream.size();
    const std::size_t room = std::max(text.size() / 2, k_least_room);
    stream.resize(before + room);
    std::span<std::uint8_t> to(reinterpret_cast<std::uint8_t*>(stream.data()) + before, room);
    state = packer->pack(text, true, to);
    stream.resize(stream.size() - to.size());
    if (state == Packer::State::failed) return output_error("packets cannot be packed");
  }
  return stream;
}

}  // namespace entrain::json
