--- The user's actions on a session's turns: send, steer, queue, cancel, go on.

local client = require("azimuth.client")
local config = require("azimuth.config")
local protocol = require("azimuth.generated.protocol")

local M = {}

local requests = protocol.requests
local errors = protocol.error_codes

---@param message string
local function complain(message)
  vim.notify("Azimuth: " .. message, vim.log.levels.ERROR)
end

---@param session_id string
---@param prompt azimuth.PromptBlock[]
---@param callback fun(err?: azimuth.Error)
local function start(session_id, prompt, callback)
  client.request(requests.turn_start, { sessionId = session_id, prompt = prompt }, function(err, result)
    if err and err.code == errors.turnRunning then
      -- A turn began meanwhile, perhaps in another window. The prompt waits for its end.
      M.queue(session_id, prompt, callback)
      return
    end
    if result and result.switchTo then
      client.open_session(result.switchTo, callback)
      return
    end
    callback(err)
  end)
end

---@param session_id string
---@param prompt azimuth.PromptBlock[]
---@param callback fun(err?: azimuth.Error)
function M.queue(session_id, prompt, callback)
  client.request(requests.turn_queue, { type = "add", sessionId = session_id, prompt = prompt }, callback)
end

--- True if a prompt begins with a slash command, which the running turn is not to hear.
---@param prompt azimuth.PromptBlock[]
---@return boolean
local function is_command(prompt)
  return prompt[1] ~= nil and prompt[1].type == "text" and prompt[1].text:match("^%s*/%a") ~= nil
end

--- True if a prompt is a user command, for the shell.
---@param prompt azimuth.PromptBlock[]
---@return boolean
local function is_for_shell(prompt)
  return prompt[1] ~= nil and prompt[1].type == "text" and prompt[1].text:sub(1, 1) == "!"
end

--- Sends a prompt. While a turn runs it is said to that turn, or waits for its end.
---@param prompt azimuth.PromptBlock[]
---@param how? "steer"|"queue"|"now" Without it, what the setting says; with "now", what runs is broken off.
---@param callback? fun(err?: azimuth.Error)
function M.send(prompt, how, callback)
  callback = callback or function(err)
    if err then
      complain(err.message)
    end
  end
  client.ensure_session(function(err, session_id)
    if err then
      callback(err)
      return
    end
    ---@cast session_id string
    local running = client.state(session_id).running
    how = how or config.values.chat.while_running
    if not running or is_for_shell(prompt) then
      start(session_id, prompt, callback)
    elseif how == "now" then
      client.request(requests.turn_queue, { type = "now", sessionId = session_id, prompt = prompt }, callback)
    elseif how == "queue" or is_command(prompt) then
      M.queue(session_id, prompt, callback)
    else
      local params = { sessionId = session_id, expectedTurnId = running, prompt = prompt }
      client.request(requests.turn_steer, params, function(steer_err)
        if steer_err and steer_err.code == errors.wrongTurn then
          start(session_id, prompt, callback)
          return
        end
        callback(steer_err)
      end)
    end
  end)
end

--- Cancels the turn of the current session.
function M.cancel()
  local session_id = client.session()
  if not session_id then
    return
  end
  client.request(requests.turn_cancel, { sessionId = session_id }, function(err, result)
    if err then
      complain(err.message)
    elseif not result.cancelled then
      vim.notify("Azimuth: no turn is running.")
    end
  end)
end

--- Has the turn of the current session ask its model again now, if it waits.
function M.retry()
  local session_id = client.session()
  if not session_id then
    return
  end
  client.request(requests.turn_retry, { sessionId = session_id }, function(err, result)
    if err then
      complain(err.message)
    elseif not result.retried then
      vim.notify("Azimuth: nothing waits to be tried again.")
    end
  end)
end

--- Takes a waiting prompt back, and gives its text.
---@param session_id string
---@param queued azimuth.Queued
---@param callback fun(said: string)
local function take_back(session_id, queued, callback)
  client.request(requests.turn_queue, { type = "remove", sessionId = session_id, queueId = queued.id }, function(err)
    if err then
      complain(err.message)
      return
    end
    callback((require("azimuth.render").prompt(queued.prompt)))
  end)
end

--- Takes the prompt that waits back, and gives its text. Of several, the user chooses one, which can go first instead.
---@param callback fun(said: string)
function M.choose_waiting(callback)
  local session_id = client.session()
  local queue = session_id and client.state(session_id).queue or {}
  if not session_id or #queue == 0 then
    vim.notify("Azimuth: no prompt waits.")
    return
  elseif #queue == 1 then
    return take_back(session_id, queue[1], callback)
  end
  local choices = {}
  for place, queued in ipairs(queue) do
    local said = require("azimuth.text").one_line((require("azimuth.render").prompt(queued.prompt)), 60)
    table.insert(choices, { words = ("%d: take back: %s"):format(place, said), queued = queued })
    if place > 1 then
      table.insert(choices, { words = ("%d: let it go first: %s"):format(place, said), queued = queued, first = true })
    end
  end
  vim.ui.select(choices, {
    prompt = "Azimuth: the prompts that wait",
    format_item = function(choice)
      return choice.words
    end,
  }, function(choice)
    if choice and choice.first then
      local params = { type = "move", sessionId = session_id, queueId = choice.queued.id, to = 0 }
      client.request(requests.turn_queue, params, function(err)
        if err then
          complain(err.message)
        end
      end)
    elseif choice then
      take_back(session_id, choice.queued, callback)
    end
  end)
end

--- Goes on with a turn that was interrupted or failed.
function M.continue()
  M.send({})
end

return M
