// Package storetest is the suite that every scene.Store passes.
package storetest
