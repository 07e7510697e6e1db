/* SPDX-License-Identifier: MIT */
/* What the kernel says of a PCI device in /sys. */
#ifndef CT_PCI_H
#define CT_PCI_H

#include "base/base.h"

struct ct_pci_address {
    uint32_t domain, bus, device;
};

/*
 * What its link carries in one direction, in MB/s, at the device's best speed and width, without
 * the line's own coding. 0: not known. errno stays.
 */
uint32_t ct_pci_link_mbs(const struct ct_pci_address *a);

/* The same of what the kernel says: "32.0 GT/s PCIe", "16". */
uint32_t ct_pci_link_of(const char *speed, const char *width);

#endif
