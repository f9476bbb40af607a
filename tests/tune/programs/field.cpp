// Writes one dataset by HDF5's C++ interface, and reads it back; then fails to open a file.
#include <H5Cpp.h>

#include <iostream>
#include <vector>

int main(int, char** argument) {
    std::vector<double> data(20000), back(20000);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i);
    const hsize_t lengths[] = {200, 100};
    {
        H5::H5File file(argument[1], H5F_ACC_TRUNC);
        H5::Group group = file.createGroup("g");
        H5::DataSet set = group.createDataSet("field", H5::PredType::NATIVE_DOUBLE, H5::DataSpace(2, lengths));
        set.write(data.data(), H5::PredType::NATIVE_DOUBLE);
        set.read(back.data(), H5::PredType::NATIVE_DOUBLE);
    }
    try {
        H5::Exception::dontPrint();
        H5::H5File file("/nonexistent/file", H5F_ACC_RDONLY);
    } catch (const H5::FileIException& problem) {
        std::cout << problem.getFuncName() << '\n';
    }
    std::cout << (data == back ? "done" : "wrong") << '\n';
    return data == back ? 0 : 1;
}
