--- The chat, end to end: a real Neovim, the real server, a model that answers as it is told.

local models = require("model")
local support = require("support")

local T = {}

function T.a_prompt_that_mentions_a_file_is_answered()
  local place = support.place({ ["src/temperature.sh"] = "echo $(($1 * 9 / 5 + 30))\n" })
  local model = models.start({ { text = "The offset is **30**, and must be 32.\n\n```sh\necho 32\n```\n" } })
  support.use_model(place, model)
  local child = support.start(place)
  child:open_chat()
  child:prompt("What is wrong in @src/temperature.sh ?")
  child:wait_for("Done")
  local shown = child:transcript()
  support.contains(shown, "What is wrong in @src/temperature.sh ?")
  support.contains(shown, "+ src/temperature.sh")
  support.contains(shown, "The offset is **30**, and must be 32.")
  support.contains(shown, "1.2k in, 300 out")
  support.contains(vim.json.encode(model.asked[1]), "* 9 / 5 + 30")
  support.equal(child:lua("return require('azimuth.input').text()"), "", "the input is empty again")
  child:stop()
end

return T
