// NAS FT by planes: exchanged all at once, or in slabs or pencils while the next are transformed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "applications/ft/grid.hpp"
#include "applications/ft/solver.hpp"
#include "applications/ft/transforms.hpp"

namespace leadline::ft {

class Planes : public Solver {
public:
    Planes(Run& run, const Problem& problem, const Options& options);

    Task<> open() override;
    Task<> solve() override;
    Task<> close() override;

private:
    // What a transform needs beside its shape.
    struct Going {
        const Shape& shape;
        Transform* along_b;
        Transform* along_y;
        Transform* along_a;
        const Evolution* evolution;  // null: nothing is multiplied
    };
    // A message's place in the order in which all ranks hand theirs over.
    struct Step {
        std::int64_t plane;
        std::int64_t row;   // the first, of the receiver's own
        std::int64_t turn;  // how far the receiver is from the sender
    };
    struct Posted {
        std::vector<Comm::Request> receives{};
        std::vector<Comm::Request> sends{};
    };

    Task<> handed_over() override;
    Task<> transform(Going going);
    Task<> planes(const Going& going);
    Task<> hand(const Shape& shape, const Step& step);
    Task<> all_to_all(const Shape& shape);
    Task<> ended();
    Task<> last(const Going& going);
    void plane(const Going& going, std::int64_t p);
    void columns(Transform& along, Complex* from, std::int64_t length, std::int64_t pitch,
                 std::int64_t width);
    void rows(const Going& going, const Step& step);
    void post(const Shape& shape, std::int64_t round);
    void progress();
    [[nodiscard]] Task<> finish(std::int64_t round);
    [[nodiscard]] Step step_of(const Shape& shape, std::int64_t number) const;
    [[nodiscard]] Bytes bytes_at(Complex* memory, std::int64_t from, std::int64_t points) const;

    Shape forth_;
    Shape back_;
    std::int64_t round_ = 0;  // messages in a round of receives
    std::array<Posted, 3> rounds_{};
    std::int64_t tiles_ = 0;  // since what is under way was tested
    std::optional<Window> window_{};

    // The transforms of each length; nothing where nothing is computed.
    std::vector<std::unique_ptr<Transform>> transforms_{};
    Complex* grid_ = nullptr;     // the state in between: [a][b][y] of the transform that is next
    Complex* leaving_ = nullptr;  // what is handed over
    Complex* landed_ = nullptr;   // what came
    Complex* plane_ = nullptr;    // a plane with its padding
    Complex* tile_ = nullptr;
};

}  // namespace leadline::ft
