// The least that a program compiled by Bun can do.

console.log("hello")
