#include "io/store/hdf5.hpp"

#ifdef LEADLINE_HDF5

#include <hdf5.h>

#include <stdexcept>

namespace leadline::io {
namespace {

// The innermost causes that HDF5 gives, of which MPI's own sentence is one.
std::string causes() {
    std::vector<std::string> said;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
            auto& list = *static_cast<std::vector<std::string>*>(to);
            if (error->desc && list.size() < 2) list.emplace_back(error->desc);
            return 0;
        },
        &said);
    std::string text;
    for (const auto& each : said) text += (text.empty() ? "" : ": ") + each;
    return text.empty() ? "HDF5 does not say why" : text;
}

// The id that HDF5 returned, which is negative where it failed.
template <class Returned>
Returned check(Returned returned, const std::string& what) {
    if (returned < 0) throw std::runtime_error("cannot " + what + ": " + causes());
    return returned;
}

// By insertion: GCC 12 takes the sum of a literal and a number's text for an overflow.
std::string attribute_name(std::size_t i) { return std::to_string(i).insert(0, 1, 'a'); }

// Closes an id of HDF5 at the end of its block.
class Id {
public:
    Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Id() { close_(id_); }
    Id(const Id&) = delete;
    Id& operator=(const Id&) = delete;
    operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): it is one

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

hid_t properties(hid_t kind) { return check(H5Pcreate(kind), "make a property list"); }

hid_t kind_of(const Array& array) { return array.wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT; }

std::vector<hsize_t> sizes(const Lengths& lengths) { return {lengths.begin(), lengths.end()}; }

hid_t space_of(const Lengths& lengths) {
    const auto all = sizes(lengths);
    return check(H5Screate_simple(static_cast<int>(all.size()), all.data(), nullptr), "make a data space");
}

// A part as it lies in memory: in the shape that it has in the file, where HDF5 moves it by rows. Of other
// shapes it looks up each element of an array in chunks.
hid_t memory_of(const Hyperslab& part) {
    return space_of(part.times > 1 ? Lengths{part.elements()} : part.lengths);
}

void choose(hid_t space, const Hyperslab& part) {
    if (part.elements() == 0) {
        check(H5Sselect_none(space), "select nothing");
        return;
    }
    const auto from = sizes(part.from);
    const auto block = sizes(part.lengths);
    std::vector<hsize_t> count(from.size(), 1);
    std::vector<hsize_t> stride = block;
    if (part.times > 1) {
        count.back() = part.times;
        stride.back() = part.stride;
    }
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, from.data(), stride.data(), count.data(), block.data()),
          "select a part");
}

hid_t transfer(bool together) {
    const hid_t list = properties(H5P_DATASET_XFER);
    check(H5Pset_dxpl_mpio(list, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT), "set a transfer");
    return list;
}

}  // namespace

bool Hdf5File::available() { return true; }

Hdf5File::Hdf5File(const Comm& comm, std::string path, bool creates) : path_(std::move(path)) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Id access(properties(H5P_FILE_ACCESS), H5Pclose);
    check(H5Pset_fapl_mpio(access, comm.handle(), MPI_INFO_NULL), "use MPI-IO");
    id_ = creates ? check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create " + path_)
                  : check(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access), "open " + path_);
}

void Hdf5File::write(const Array& array, const Hyperslab& part, std::span<std::byte> bytes,
                     std::span<const double> attributes, bool together) {
    const std::string what = "write " + array.name + " of " + path_;
    const Id creation(properties(H5P_DATASET_CREATE), H5Pclose);
    const Id links(properties(H5P_LINK_CREATE), H5Pclose);
    check(H5Pset_create_intermediate_group(links, 1), what);
    if (!array.chunk.empty())
        check(H5Pset_chunk(creation, static_cast<int>(array.chunk.size()), sizes(array.chunk).data()), what);
    const Id space(space_of(array.lengths), H5Sclose);
    const Id set(
        check(H5Dcreate2(id_, array.name.c_str(), kind_of(array), space, links, creation, H5P_DEFAULT), what),
        H5Dclose);
    const Id memory(memory_of(part), H5Sclose);
    choose(space, part);
    if (part.elements() == 0) check(H5Sselect_none(memory), what);
    const Id how(transfer(together), H5Pclose);
    check(H5Dwrite(set, kind_of(array), memory, space, how, bytes.data()), what);
    const Id single(check(H5Screate(H5S_SCALAR), what), H5Sclose);
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        const std::string name = attribute_name(i);
        const Id attribute(
            check(H5Acreate2(set, name.c_str(), H5T_NATIVE_DOUBLE, single, H5P_DEFAULT, H5P_DEFAULT), what),
            H5Aclose);
        check(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &attributes[i]), what);
    }
}

void Hdf5File::read(const Array& array, const Hyperslab& part, std::span<std::byte> bytes,
                    std::span<double> attributes, bool together) {
    const std::string what = "read " + array.name + " of " + path_;
    const Id set(check(H5Dopen2(id_, array.name.c_str(), H5P_DEFAULT), what), H5Dclose);
    const Id space(check(H5Dget_space(set), what), H5Sclose);
    const Id memory(memory_of(part), H5Sclose);
    choose(space, part);
    if (part.elements() == 0) check(H5Sselect_none(memory), what);
    const Id how(transfer(together), H5Pclose);
    check(H5Dread(set, kind_of(array), memory, space, how, bytes.data()), what);
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        const std::string name = attribute_name(i);
        const Id attribute(check(H5Aopen(set, name.c_str(), H5P_DEFAULT), what), H5Aclose);
        check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &attributes[i]), what);
    }
}

void Hdf5File::close() { check(H5Fclose(id_), "close " + path_); }

}  // namespace leadline::io

#else

namespace leadline::io {

bool Hdf5File::available() { return false; }
Hdf5File::Hdf5File(const Comm&, std::string path, bool) : path_(std::move(path)) {}
void Hdf5File::write(const Array&, const Hyperslab&, std::span<std::byte>, std::span<const double>, bool) {}
void Hdf5File::read(const Array&, const Hyperslab&, std::span<std::byte>, std::span<double>, bool) {}
void Hdf5File::close() { id_ = -1; }

}  // namespace leadline::io

#endif
