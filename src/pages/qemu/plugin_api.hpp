// The parts of QEMU's plugin interface that are used, version 1 (QEMU 4.2 to 8). Debian's packages
// bring no header. Names and types are those of qemu-plugin.h.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using qemu_plugin_id_t = std::uint64_t;
using qemu_plugin_meminfo_t = std::uint32_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;  // not read

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };

using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t id, void* data);
using qemu_plugin_vcpu_simple_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu, void* data);
using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t id, qemu_plugin_tb* block);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned vcpu, qemu_plugin_meminfo_t info,
                                           std::uint64_t address, void* data);
using qemu_plugin_vcpu_syscall_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu,
                                               std::int64_t number, std::uint64_t a1,
                                               std::uint64_t a2, std::uint64_t a3, std::uint64_t a4,
                                               std::uint64_t a5, std::uint64_t a6, std::uint64_t a7,
                                               std::uint64_t a8);
using qemu_plugin_vcpu_syscall_ret_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu,
                                                   std::int64_t number, std::int64_t returned);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* block, qemu_plugin_vcpu_udata_cb_t cb,
                                          qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn* instruction, qemu_plugin_vcpu_mem_cb_t cb,
                                      qemu_plugin_cb_flags flags, qemu_plugin_mem_rw kinds,
                                      void* data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_cb_t cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
                                              qemu_plugin_vcpu_syscall_ret_cb_t cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void* data);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* block, std::size_t index);
const void* qemu_plugin_insn_data(const qemu_plugin_insn* instruction);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn* instruction);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn* instruction);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

// Not of the interface, but exported by user-mode QEMU: the program's address space.
extern std::uintptr_t guest_base __attribute__((weak));
int walk_memory_regions(void* data, int (*visit)(void* data, std::uint64_t begin, std::uint64_t end,
                                                 unsigned long flags)) __attribute__((weak));
}
