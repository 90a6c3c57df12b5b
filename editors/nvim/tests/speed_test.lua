--- The cost of drawing. The bounds are ten times what is wanted, so that a slow machine fails no test; the numbers are printed.

local models = require("model")
local support = require("support")

local T = {}

--- A session of 5,000 entries: its events, and its state once `fold_all` has taken them in.
local session = [[
  local fold = require("azimuth.fold")
  local state = fold.new()
  local events = {}
  local function happens(event)
    table.insert(events, { seq = #events + 1, at = #events + 1, event = event })
  end
  local function apply(event)
    happens(event)
    fold.apply(state, events[#events])
  end
  local usage = { input = 1, output = 1, cacheRead = 0, cacheWrite = 0 }
  local said = "A paragraph with `code`, **words** and a [link](https://example.org).\n\n```lua\nlocal x = 1\nreturn x\n```\n"
  for turn = 1, 625 do
    local id = "t" .. turn
    happens({ type = "turnStarted", turnId = id, prompt = { { type = "text", text = "Prompt " .. turn } }, context = "", model = "m", mode = "agent" })
    for call = 1, 3 do
      local message = id .. "m" .. call
      happens({ type = "messageCompleted", turnId = id, messageId = message, content = { { type = "text", text = said } }, usage = usage })
      happens({ type = "toolCallStarted", turnId = id, toolCallId = message, name = "read_file", kind = "read", title = "Reading a.lua", input = { path = "a.lua" }, locations = {} })
      happens({ type = "toolCallEnded", turnId = id, result = { toolCallId = message, text = ("line\n"):rep(20), isError = false }, summary = "20 lines", locations = {}, durationMs = 5 })
    end
    happens({ type = "turnEnded", turnId = id, stopReason = "end_turn", usage = usage })
  end
  local function fold_all()
    for _, event in ipairs(events) do
      fold.apply(state, event)
    end
  end
]]

function T.a_session_of_5000_entries_opens_and_streams_quickly()
  local place = support.place({})
  support.use_model(place, models.start({}))
  local child = support.start(place)
  child:open_chat()
  local took = child:lua(session .. [[
    local client = require("azimuth.client")
    client.state = function() return state end
    -- The time of the processor, in milliseconds, in which the machine's other work does not count.
    local function spent()
      local usage = vim.uv.getrusage()
      return (usage.utime.sec + usage.stime.sec) * 1e3 + (usage.utime.usec + usage.stime.usec) / 1e3
    end
    -- The time by the clock, and that of the processor.
    local function timed(action)
      collectgarbage()
      local began, before = vim.uv.hrtime(), spent()
      action()
      vim.cmd("redraw!")
      return (vim.uv.hrtime() - began) / 1e6, spent() - before
    end
    local chat = require("azimuth.chat")
    local took = {}
    local before = collectgarbage("count")
    took.open = timed(function()
      fold_all()
      chat.draw_now()
    end)
    took.entries = #state.entries
    took.memory = (collectgarbage("count") - before) / 1024
    took.lines = vim.api.nvim_buf_line_count(vim.fn.bufnr("azimuth://chat"))
    took.worst = 0
    local frames = {}
    apply({ type = "turnStarted", turnId = "last", prompt = { { type = "text", text = "x" } }, context = "", model = "m", mode = "agent" })
    for piece = 1, 100 do
      apply({ type = "messageDelta", messageId = "streamed", text = "More `text` of an answer. " .. (piece % 5 == 0 and "\n" or "") })
      local frame, of_processor = timed(chat.draw_now)
      table.insert(frames, frame)
      took.worst = math.max(took.worst, of_processor)
    end
    table.sort(frames)
    took.most = frames[90]
    return took
  ]])
  io.stdout:write(("     %d entries, %d lines: opened in %.0f ms, +%.1f MB of Lua; worst frame while streaming %.1f ms\n"):format(
    took.entries,
    took.lines,
    took.open,
    took.memory,
    took.worst
  ))
  support.equal(took.entries, 5000)
  assert(took.open < 3000, "opening took " .. took.open)
  assert(took.worst < 300, "a frame took " .. took.worst .. " of the processor")
  assert(took.most < 300, "one frame of ten took " .. took.most .. " or more")
  child:stop()
end

function T.the_start_costs_little()
  local place = support.place({})
  local log = place.home .. "/startup.log"
  local least = math.huge
  for _ = 1, 5 do
    os.remove(log)
    vim.system(
      { vim.v.progpath, "--clean", "--headless", "--cmd", "set rtp^=" .. support.plugin, "--startuptime", log, "+qall" },
      { env = support.environment(place), clear_env = true }
    ):wait(10000)
    local sum = 0
    for line in support.read(log):gmatch("[^\n]+") do
      -- The second number is the file with all that it loads.
      sum = sum + (tonumber(line:match("^%S+%s+(%S+)%s+%S+: sourcing %S*plugin/azimuth.lua")) or 0)
    end
    assert(sum > 0, "the plugin is in the log")
    least = math.min(least, sum)
  end
  io.stdout:write(("     the plugin adds %.2f ms to the start\n"):format(least))
  assert(least < 50, ("the start took %.1f ms"):format(least))
end

return T
