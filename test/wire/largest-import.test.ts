// What a client knows of the bound of an import is what a server takes.

import { expect, test } from "bun:test"
import * as server from "../../src/http/request-body.ts"
import { LARGEST_IMPORT } from "../../src/wire/largest-import.ts"

test("client and server have the same bound for an import", () => {
  expect(LARGEST_IMPORT).toBe(server.LARGEST_IMPORT)
})
