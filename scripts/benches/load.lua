-- The load of wrk: each request is for the next client of a file. Arguments: FILE HELD START STATUS.
-- HELD above 0 keeps that many requests and goes round them; 0 reads on and on, from the share START of the file.
-- STATUS above 0 counts the answers that have another one. That takes a tenth of the time of wrk, and is for turns that
-- are not measured: wrk itself counts only those of 400 and more.

local held, next_held = {}, 0
local file, prefix, suffix
local thread
unexpected = 0

-- wrk runs init and request in the thread, done outside of it.
function setup(started)
  thread = started
end

local function request_for(client)
  return prefix .. client .. suffix
end

local function from_file()
  local client = file:read("*l")
  if client == nil then
    file:seek("set", 0)
    client = file:read("*l")
  end
  return request_for(client)
end

local function from_held()
  next_held = next_held % #held + 1
  return held[next_held]
end

local function expect(wanted)
  function response(status)
    if status ~= wanted then unexpected = unexpected + 1 end
  end
end

function init(args)
  prefix = "GET " .. wrk.path .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\nX-Real-IP: "
  suffix = "\r\n\r\n"
  file = assert(io.open(args[1], "r"))
  local count, status = tonumber(args[2]), tonumber(args[4])
  if status > 0 then expect(status) end
  if count == 0 then
    file:seek("set", math.floor(file:seek("end") * tonumber(args[3])))
    file:read("*l")
    request = from_file
    return
  end
  for client in file:lines() do
    held[#held + 1] = request_for(client)
    if #held == count then break end
  end
  request = from_held
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"micros":%d,"meanMicros":%.3f,"refused":%d,"broken":%d,"unexpected":%d}\n', summary.requests,
    summary.duration, latency.mean, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    thread:get("unexpected")))
end
