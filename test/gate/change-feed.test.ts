// The feed inside the server: every follower gets everything, and a slow one costs nobody else anything.

import { expect, test } from "bun:test"
import type { FeedEvent } from "../../src/core/feed.ts"
import { ChangeFeed } from "../../src/gate/change-feed.ts"

/** Long enough that a test that waits for it has failed. */
const LONG = 60_000

function events(...ids: number[]): FeedEvent[] {
  return ids.map((id) => ({ kind: "at", id }))
}

test("every follower gets each event once, in order, from when it came", async () => {
  const feed = new ChangeFeed()
  const first = feed.follow()
  feed.publish(events(1))
  const second = feed.follow()
  feed.publish(events(2, 3))
  expect(await first.next(LONG)).toEqual(events(1, 2, 3))
  expect(await second.next(LONG)).toEqual(events(2, 3))
  const waiting = [first.next(LONG), second.next(LONG)]
  feed.publish(events(4))
  expect(await Promise.all(waiting)).toEqual([events(4), events(4)])
})

test("a follower that hears nothing is told so, and goes on", async () => {
  const feed = new ChangeFeed()
  const follower = feed.follow()
  expect(await follower.next(1)).toEqual([])
  feed.publish([])
  expect(await follower.next(1)).toEqual([])
  feed.publish(events(1))
  expect(await follower.next(LONG)).toEqual(events(1))
})

test("a follower that left, or that the end of the feed has dropped, gets nothing more", async () => {
  const feed = new ChangeFeed()
  const [leaving, staying] = [feed.follow(), feed.follow()]
  const waiting = leaving.next(LONG)
  leaving.leave()
  feed.publish(events(1))
  expect(await waiting).toBeNull()
  expect(await leaving.next(LONG)).toBeNull()
  expect(await staying.next(LONG)).toEqual(events(1))
  const last = staying.next(LONG)
  feed.close()
  expect(await last).toBeNull()
  expect(await staying.next(LONG)).toBeNull()
})

test("a follower that stays to the end gets what comes after the others have gone, and all that waits for it", async () => {
  const feed = new ChangeFeed()
  const [other, reading, late] = [
    feed.follow(),
    feed.follow({ staysToTheEnd: true }),
    feed.follow({ staysToTheEnd: true }),
  ]
  feed.publish(events(1))
  feed.close()
  feed.publish(events(2))
  expect(await other.next(LONG)).toBeNull()
  expect(await feed.follow({ staysToTheEnd: true }).next(LONG)).toBeNull()
  expect(await reading.next(LONG)).toEqual(events(1, 2))
  const last = reading.next(LONG)
  feed.end()
  feed.publish(events(3))
  expect(await last).toBeNull()
  expect(await late.next(LONG)).toEqual(events(1, 2))
  expect(await late.next(LONG)).toBeNull()
})

test("a follower that does not read is dropped; the others are not", async () => {
  const feed = new ChangeFeed()
  const [slow, quick] = [feed.follow(), feed.follow()]
  let read = 0
  for (let batch = 0; batch < 101; batch++) {
    feed.publish(events(...Array.from({ length: 100 }, (_, i) => batch * 100 + i + 1)))
    read += (await quick.next(LONG))?.length ?? 0
  }
  expect(read).toBe(10_100)
  expect(await slow.next(LONG)).toBeNull()
})

test("a follower that left, or was dropped, is not registered any more, and nothing waits for it", async () => {
  const feed = new ChangeFeed()
  const followers: Set<unknown> = Reflect.get(feed, "followers")
  const [left, slow, staying] = [feed.follow(), feed.follow(), feed.follow()]
  feed.publish(events(1))
  left.leave()
  expect(followers.size).toBe(2)
  await staying.next(LONG)
  feed.publish(events(...Array.from({ length: 10_000 }, (_, i) => i + 2)))
  expect(followers.size).toBe(1)
  expect([left, slow].map((follower) => Reflect.get(follower, "queue"))).toEqual([[], []])
})

test("knows the id of the newest event", () => {
  const feed = new ChangeFeed()
  feed.startAt(7)
  expect(feed.lastId).toBe(7)
  feed.publish(events(8, 9))
  feed.publish([])
  expect(feed.lastId).toBe(9)
})
