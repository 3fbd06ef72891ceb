-- The load of wrk that adds entries: each request a new address. Arguments: TOKEN FIRST, where FIRST counts from 0.0.0.0.

local prefix, number

function init(args)
  prefix = "POST /api/whitelist/perm HTTP/1.1\r\nHost: " .. wrk.headers["Host"]
    .. "\r\nAuthorization: Bearer " .. args[1] .. "\r\nContent-Length: "
  number = tonumber(args[2])
end

function request()
  local body = string.format('{"ip":"%d.%d.%d.%d"}', math.floor(number / 16777216), math.floor(number / 65536) % 256,
    math.floor(number / 256) % 256, number % 256)
  number = number + 1
  return prefix .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"micros":%d,"meanMicros":%.3f,"refused":%d,"broken":%d,"unexpected":0}\n', summary.requests,
    summary.duration, latency.mean, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
