#include "io/store/plain.hpp"

#include <stdexcept>

#ifdef LEADLINE_MPI_IO

#include <array>

namespace leadline::io {

struct PlainFile::Handle {
    MPI_File file = MPI_FILE_NULL;
};

namespace {

void check(int code, const std::string& what) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    std::string said(text.data(), static_cast<std::size_t>(length));
    for (char& each : said)
        if (each == '\n') each = ' ';
    throw std::runtime_error("cannot " + what + ": " + said);
}

// A file that took or gave less than it was asked for is full, or too short.
void check_count(const MPI_Status& status, std::size_t bytes, const std::string& what) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (static_cast<std::size_t>(count) != bytes)
        throw std::runtime_error("cannot " + what + ": " + std::to_string(count) + " of " +
                                 std::to_string(bytes) + " bytes were moved; is the disk full?");
}

}  // namespace

bool PlainFile::available() { return true; }

PlainFile::PlainFile(const Comm& comm, std::string path, bool writes, bool own)
    : path_(std::move(path)), handle_(std::make_shared<Handle>()) {
    const int mode = writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    check(MPI_File_open(own ? MPI_COMM_SELF : comm.handle(), path_.c_str(), mode, MPI_INFO_NULL,
                        &handle_->file),
          "open " + path_);
}

void PlainFile::write(Length at, Bytes bytes, bool together) {
    MPI_Status status;
    const auto offset = static_cast<MPI_Offset>(at);
    const auto count = static_cast<int>(bytes.size());
    check(together ? MPI_File_write_at_all(handle_->file, offset, bytes.data(), count, MPI_BYTE, &status)
                   : MPI_File_write_at(handle_->file, offset, bytes.data(), count, MPI_BYTE, &status),
          "write " + path_);
    check_count(status, bytes.size(), "write " + path_);
}

void PlainFile::read(Length at, Bytes bytes, bool together) {
    MPI_Status status;
    const auto offset = static_cast<MPI_Offset>(at);
    const auto count = static_cast<int>(bytes.size());
    check(together ? MPI_File_read_at_all(handle_->file, offset, bytes.data(), count, MPI_BYTE, &status)
                   : MPI_File_read_at(handle_->file, offset, bytes.data(), count, MPI_BYTE, &status),
          "read " + path_);
    check_count(status, bytes.size(), "read " + path_);
}

void PlainFile::close() { check(MPI_File_close(&handle_->file), "close " + path_); }

}  // namespace leadline::io

#else

namespace leadline::io {

struct PlainFile::Handle {};
bool PlainFile::available() { return false; }
PlainFile::PlainFile(const Comm&, std::string path, bool, bool) : path_(std::move(path)) {}
void PlainFile::write(Length, Bytes, bool) { (void)path_; }
void PlainFile::read(Length, Bytes, bool) { (void)path_; }
void PlainFile::close() { handle_.reset(); }

}  // namespace leadline::io

#endif
