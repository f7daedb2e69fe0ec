// Package abi is the words that everything is said in: the records of the public
// D3DKMT and /dev/dxg interface with their exact layouts, the operation table,
// NTSTATUS, handles, and flags with their rules as data.
//
// Names keep the words of the headers without their prefix (D3DKMT_CREATEDEVICE
// is CreateDevice, its hAdapter is HAdapter). Records have the layout of x86-64
// Linux; pointers in them are numbers, because they point into another process.
// Tests compare every size and offset with tables read back from compilers, and
// with what a C compiler makes of the headers in c/include.
package abi
