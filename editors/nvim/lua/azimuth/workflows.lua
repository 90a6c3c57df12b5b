--- Workflows that begin at a place in the code: the user has chosen a code action of our server, and its prompt is for the chat.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")

local M = {}

--- Sends a prompt, for after the running turn if there is one. The draft stays as it is, and what cannot be sent comes to it.
---@param prompt azimuth.PromptBlock[]
local function send(prompt)
  local input = require("azimuth.input")
  local chat = require("azimuth.chat")
  chat.open(function(no_session)
    if no_session then
      input.add_prompt(prompt)
      return
    end
    chat.follow()
    require("azimuth.turn").send(prompt, "queue", function(err)
      if err then
        vim.notify("Azimuth: not sent: " .. err.message, vim.log.levels.ERROR)
        input.add_prompt(prompt)
      end
    end)
  end)
end

--- Leaves a prompt to the user, who has something to add.
---@param prompt azimuth.PromptBlock[]
local function ask(prompt)
  local chat = require("azimuth.chat")
  chat.open()
  require("azimuth.input").append(require("azimuth.input").written(prompt) .. " ")
  chat.focus_input()
end

--- Takes a prompt into the chat.
---@param params azimuth.PromptPutParams
function M.put(params)
  if params.send then
    send(params.prompt)
  else
    ask(params.prompt)
  end
end

client.on_notification(protocol.notifications.prompt_put, M.put)

return M
