--- A component for the status line: `require("azimuth.status").get()`. It loads nothing and asks nobody, so it can stand
--- in a status line from the first moment on.

local M = {}

local listening = false
local cached = ""
---@type table?
local cached_for = nil

--- The events that change the component. Others, such as streamed text, leave the status line alone.
local EVENTS = {
  "turnStarted", "turnEnded", "permissionAsked", "permissionAnswered", "proposalChanged", "reviewDecided", "editApplied",
  "modelChanged", "modeChanged", "acceptEditsChanged", "retrying", "sessionOpened", "sessionSelected", "connection",
  "terminalChanged",
}

local connection = nil

---@param client table
local function listen(client)
  listening = true
  for _, type in ipairs(EVENTS) do
    client.on(type, function(_, event)
      if type == "connection" then
        connection = event.state
      end
      cached_for = nil
      vim.schedule(function()
        vim.cmd("redrawstatus!")
      end)
    end)
  end
end

--- Says what the session does, in a word.
---@param state azimuth.State
---@return string
function M.doing(state)
  if not listening then
    listen(require("azimuth.client"))
  end
  if connection == "lost" or connection == "failed" then
    return "no server"
  elseif #state.questions > 0 then
    return "asks"
  elseif M.waits(state) then
    return M.waits(state) --[[@as string]]
  elseif state.retrying then
    local seconds = M.seconds_left(state)
    return seconds and ("tries again in %d s"):format(seconds) or "tries again"
  elseif state.compacting then
    return "writes a handover"
  elseif state.running then
    return "works"
  end
  return "ready"
end

--- The seconds until a request is tried again; nil if nothing is waited for.
---@param state azimuth.State
---@return integer?
function M.seconds_left(state)
  local at = state.retrying and state.retrying.until_ms
  if not at then
    return nil
  end
  local seconds, micros = vim.uv.gettimeofday()
  local left = math.ceil((at - seconds * 1000 - micros / 1000) / 1000)
  return left > 0 and left or nil
end

--- That a command waits for input, in a few words, if one does.
---@param state azimuth.State
---@return string?
function M.waits(state)
  local first = require("azimuth.fold.terminals").waiting(state)[1]
  return first and (first.waiting.certainty == "certain" and "waits for input" or "may wait for input") or nil
end

--- The mode, where it is not the usual one.
---@param state azimuth.State
---@return string?
---@return string? group Of what is worth a warning.
function M.mode(state)
  if state.mode == "bypass" then
    return "BYPASS", "AzimuthBypass"
  elseif state.mode == "accept_edits" and not state.accept_edits then
    return "accepts edits", "AzimuthWarning"
  elseif state.mode == "plan" then
    return "only plans"
  elseif state.mode == "ask" then
    return "only asks"
  end
end

--- How long edits are accepted automatically, where they are.
---@param state azimuth.State
---@return string
function M.accepting(state)
  return state.accept_scope == "project" and "accepts edits (project)" or "accepts edits"
end

--- How many hunks there are to review, if any; those that are in their documents already are counted apart.
---@param state azimuth.State
---@return string?
function M.hunks(state)
  local text = require("azimuth.text")
  local waiting, landed = require("azimuth.fold").pending(state)
  if waiting > 0 and landed > 0 then
    return ("%s and %d already in"):format(text.plural(waiting, "hunk"), landed)
  elseif landed > 0 then
    return text.plural(landed, "hunk") .. " already in"
  end
  return waiting > 0 and text.plural(waiting, "hunk") or nil
end

--- The model that is asked now, by the turn that runs or else the session's own, and the level at which it thinks, if one
--- was chosen.
---@param state azimuth.State
---@return string? model
---@return string? level
function M.model(state)
  if state.running and state.turn_model and state.turn_model ~= "" then
    return state.turn_model, state.turn_thinking
  end
  return state.model, state.thinking
end

--- How full the context is, in percent, with the highlight group that says if it is much of what may be filled before old
--- results are removed.
---@param context? { used: integer, limit: integer, full?: integer }
---@return integer? percent
---@return string? group
function M.fill(context)
  if not context or context.limit <= 0 then
    return nil
  end
  local fill = context.used / math.max(1, context.full or context.limit)
  local group = fill >= 0.85 and "AzimuthFailed" or fill >= 0.6 and "AzimuthWarning" or nil
  return math.floor(100 * context.used / context.limit + 0.5), group
end

--- The level at which the model thinks, if one was chosen.
---@param state azimuth.State
---@return string?
function M.thinking(state)
  local _, level = M.model(state)
  return level and "thinking: " .. level or nil
end

---@param state azimuth.State
---@return string
local function compose(state)
  local text = require("azimuth.text")
  local parts = { M.doing(state) }
  local model = M.model(state)
  if model then
    table.insert(parts, (text.one_line(model, 40)) .. (state.scripted and " (scripted)" or ""))
    table.insert(parts, M.thinking(state))
  end
  table.insert(parts, M.hunks(state))
  if state.accept_edits then
    table.insert(parts, M.accepting(state))
  end
  local mode, group = M.mode(state)
  local is_bypass = group == "AzimuthBypass"
  if not is_bypass then
    table.insert(parts, mode)
  end
  if state.cost > 0 then
    table.insert(parts, text.dollars(state.cost))
  end
  -- A status line reads `%` as an instruction.
  local line = ("azimuth: " .. table.concat(parts, " · ")):gsub("%%", "%%%%")
  return is_bypass and ("%%#%s#%s%%* %s"):format(group, mode, line) or line
end

--- The status of a session in lines, with the cost of today and of all time.
---@param state? azimuth.State
---@param sums? azimuth.CostsSumsResult
---@return string[]
function M.detail(state, sums)
  local text = require("azimuth.text")
  local lines = {}
  local function put(line)
    table.insert(lines, line)
  end
  put("Azimuth: " .. (state and M.doing(state) or "no session"))
  if state then
    local model = M.model(state)
    put(state.title ~= "" and text.one_line(state.title) or nil)
    put(model and "Model: " .. text.one_line(model) .. (state.scripted and " (plays a script)" or "") or nil)
    put(M.thinking(state))
    put(state.cost > 0 and "Cost of this conversation: " .. text.dollars(state.cost) or nil)
  end
  if sums then
    local costs = require("azimuth.costs")
    put("Cost of today (UTC), all conversations: " .. costs.amount(sums.today))
    put("Cost of all time: " .. costs.amount(sums.total))
  end
  if state then
    local percent = M.fill(state.context)
    put(percent and ("Context: %d%% full"):format(percent) or nil)
    put(M.hunks(state))
    put(state.accept_edits and M.accepting(state) or nil)
    put((M.mode(state)))
  end
  return lines
end

--- Says the status of the current session, with the costs as they are now.
function M.show()
  local client = require("azimuth.client")
  client.request(require("azimuth.generated.protocol").requests.costs_sums, {}, function(err, sums)
    local lines = M.detail(client.state(), not err and sums or nil)
    if err then
      table.insert(lines, "The costs are not known: " .. err.message)
    end
    vim.notify(table.concat(lines, "\n"))
  end)
end

---@type table<string, string>
local INLINE = { ready = "suggests", snoozed = "suggestions paused", slow = "suggestions slow", failing = "suggestions fail" }

--- Returns the text of a component for suggestions where the user types, empty while they are off.
---@return string
function M.inline()
  local inline = package.loaded["azimuth.inline"]
  local words = type(inline) == "table" and INLINE[inline.state()]
  if not words then
    return ""
  end
  local cost = inline.cost()
  return cost and ("%s · %s"):format(words, cost) or words
end

--- Returns the text of the component, empty before the first session.
---@return string
function M.get()
  local client = package.loaded["azimuth.client"]
  if type(client) ~= "table" then
    return ""
  end
  if not listening then
    listen(client)
  end
  local state = client.state()
  if not state then
    cached_for = nil
    return ""
  end
  if cached_for ~= state then
    cached, cached_for = compose(state), state
  end
  return cached
end

return M
