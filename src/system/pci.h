/* SPDX-License-Identifier: MIT */
/* A PCI device's link, from the kernel's /sys. */
#ifndef CT_PCI_H
#define CT_PCI_H

#include "base/base.h"

struct ct_pci_address {
    uint32_t domain, bus, device;
};

/*
 * Bandwidth of the device's link in one direction, in MB/s, at the device's best speed and width,
 * without the line coding. 0: not known. errno stays.
 */
uint32_t ct_pci_link_mbs(const struct ct_pci_address *a);

/* That bandwidth from the kernel's texts: "32.0 GT/s PCIe", "16". MB/s; 0: not known. */
uint32_t ct_pci_link_of(const char *speed, const char *width);

#endif
