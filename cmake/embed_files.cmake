# Writes OUTPUT, a source that defines isotherm::live::page_files() with the content of FILES:
#   cmake -DOUTPUT=... "-DFILES=a;b" -P embed_files.cmake
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char kFile${number}[] = {${bytes}'\\0'};\n")
  string(APPEND rows "    {\"${name}\", {kFile${number}, sizeof kFile${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"live/files.hpp\"

namespace isotherm::live {
namespace {
${arrays}constexpr page_file kFiles[] = {
${rows}};
}  // namespace

std::span<const page_file> page_files() noexcept { return kFiles; }

}  // namespace isotherm::live
")
