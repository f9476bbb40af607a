// Memory of coroutine frames: there is one a rank for each call that it is in, made and dropped in hundreds
// of thousands, all of a few sizes.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace leadline::detail {

// Frames of each size are used again last in, first out; new ones lie one after the other, so that those of
// ranks that begin one after the other are neighbours. When none is left all memory is given back but a
// chunk: the next point's frames have other sizes.
class Frames {
public:
    void* take(std::size_t bytes) {
        if (bytes > largest) return ::operator new(bytes);
        Free*& free = free_[list_of(bytes)];
        ++live_;
        if (free) {
            void* frame = free;
            free = free->next;
            return frame;
        }
        const std::size_t size = (list_of(bytes) + 1) * grain;
        if (size > left_) add_chunk();
        void* frame = newest_->space.data() + (newest_->space.size() - left_);
        left_ -= size;
        return frame;
    }

    void give(void* frame, std::size_t bytes) noexcept {
        if (bytes > largest) {
            ::operator delete(frame);
            return;
        }
        if (--live_ == 0) {
            give_back();
            return;
        }
        Free*& free = free_[list_of(bytes)];
        free = ::new (frame) Free{free};
    }

private:
    static constexpr std::size_t grain = alignof(std::max_align_t);
    static constexpr std::size_t largest = 1024;  // B; larger frames are rare

    struct Free {
        Free* next;
    };
    struct Chunk {
        Chunk* before;
        // Less than what malloc() maps apart, so that chunks share large pages.
        alignas(grain) std::array<std::byte, 65'536 - grain> space;
    };

    static std::size_t list_of(std::size_t bytes) { return (bytes - 1) / grain; }

    void add_chunk() {
        auto* chunk = static_cast<Chunk*>(::operator new(sizeof(Chunk)));
        chunk->before = newest_;
        newest_ = chunk;
        left_ = chunk->space.size();
    }

    void give_back() noexcept {
        free_ = {};
        while (newest_->before) {
            Chunk* before = newest_->before;
            ::operator delete(newest_);
            newest_ = before;
        }
        left_ = newest_->space.size();
    }

    std::array<Free*, largest / grain> free_{};
    Chunk* newest_ = nullptr;
    std::size_t left_ = 0;  // B of the newest chunk
    std::size_t live_ = 0;  // frames
};

// A task is resumed and ends on the thread that made it.
inline constinit thread_local Frames frames{};

}  // namespace leadline::detail
